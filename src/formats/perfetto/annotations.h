// The arguments of an event as Perfetto's debug annotations: what the trace's side tables hold, under Kineto's names.
#pragma once

#include <cstdint>
#include <string_view>

#include "formats/perfetto/interning.h"
#include "formats/perfetto/proto_message.h"
#include "trace/details.h"
#include "trace/trace.h"

namespace telltale::perfetto {

// Used by one thread. Quick when events come in ascending order.
class Annotations {
 public:
  Annotations(const Trace& trace, Interning& interning);

  // Adds them to a TrackEvent.
  void add(EventId event, ProtoMessage& track_event);

  // The values about the recording that the file had besides its events.
  void add_metadata(ProtoMessage& track_event);

 private:
  void add_operator(EventId event);
  void add_device_work(EventId event);
  void add_collective(const CollectiveInfo& info);
  // Each member of a JSON object; text that is none as it is.
  void add_members(StringId json);
  bool add_flat_members(std::string_view json);

  void add_number(std::string_view name, std::int64_t value);
  void add_number_unless(std::int64_t absent, std::string_view name, std::int64_t value) {
    if (value != absent) add_number(name, value);
  }
  void add_real(std::string_view name, double value);
  // Texts of the trace, which repeat.
  void add_text(std::string_view name, StringId text);
  void add_any_text(std::string_view name, std::string_view text);
  void add_sizes(std::string_view name, const std::array<std::int32_t, 3>& sizes);
  // Any JSON value.
  void add_json(std::string_view name, std::string_view value);
  void start(std::string_view name);
  void finish() { event_->add_message(kDebugAnnotations, annotation_); }

  static constexpr unsigned kDebugAnnotations = 4;

  const Trace& trace_;
  Interning& interning_;
  DetailWalks details_;
  ProtoMessage* event_ = nullptr;
  ProtoMessage annotation_;
};

}  // namespace telltale::perfetto
