// The list of events: names of places, rows with the arrows that belong to them, memory events, counters, other arrows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/kineto/event_arguments.h"
#include "formats/kineto/flow_arrows.h"
#include "formats/kineto/places.h"
#include "formats/output/json_parts.h"
#include "formats/output/left_out.h"
#include "formats/output/text_writer.h"
#include "trace/trace.h"

namespace telltale::kineto {

class EventListText {
 public:
  // Both must live as long as this.
  EventListText(const Trace& trace, TextWriter& out);

  // What stands between the brackets of the list. To be called once.
  void write(const WriteProgress& progress, LeftOutList& left_out);

  // Behind it, the marks of Kineto's window: from the trace's time 0 to its end.
  void write_window();

 private:
  void write_rows(const WriteProgress& progress);
  void write_row(EventId event, const Track& track);
  void write_span(EventId event);
  void write_instant(EventId event, const Track& track);
  void write_async(EventId event);
  void write_category(EventId event);
  void write_launch_arrow(EventId event);
  void write_arrow(const Arrow& arrow, std::string_view category_and_name, std::uint64_t id);
  void write_forward_backward();
  void write_flows();

  // In event_list_samples.cpp:
  void write_process_labels();
  void write_place_labels();
  void write_memory();
  void write_memory_event(std::size_t row);
  void write_counters();
  std::uint64_t write_counter(std::size_t first_series, std::size_t behind);

  // Starts the next element of the list.
  TextWriter& next();
  // pid, tid and time.
  void write_place_and_time(TrackId track, Nanoseconds time);

  const Trace& trace_;
  TextWriter& out_;
  Places places_;
  CheckedJson json_;
  EventArguments arguments_;
  SideTableWalk<StringId> categories_;
  std::vector<std::string> place_texts_;  // by track: everything between an event's name and its time
  std::vector<bool> has_arrow_;           // by event: launches whose arrow has begun
  Nanoseconds shift_ = 0;                 // from the trace's time 0 to the file's
  bool is_first_ = true;
  std::uint64_t lost_labels_ = 0, lost_flows_ = 0, lost_values_ = 0;
};

}  // namespace telltale::kineto
