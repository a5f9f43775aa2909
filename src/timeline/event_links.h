// What an event has to do with events elsewhere: the launch of device work and what it launches, the operator around a
// launch, forward and backward operators, what captured the work of a CUDA graph, and arrows of the file. Each link can
// be walked both ways.
//
// Made in nearly linear time; then immutable and thread-safe. Takes 4 bytes for each event that has a cause. The trace
// must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace telltale {

enum class LinkRole : std::uint8_t {
  kLaunchedBy,
  kLaunches,
  kCalledBy,
  kForward,
  kBackward,
  kCapturedBy,
  kCaptures,
  kFlow
};
std::string_view name_of(LinkRole role);  // "launched by", …

struct LinkedEvent {
  LinkRole role = LinkRole::kFlow;
  bool is_cause = false;  // it made the event happen; else the event made it happen
  EventId event = kNoEvent;
  bool operator==(const LinkedEvent&) const = default;
};

struct EventLinkList {
  std::vector<LinkedEvent> links;  // causes first, the nearest before those behind it
  std::size_t left_out = 0;
};

class EventLinks {
 public:
  explicit EventLinks(const Trace& trace);

  // At most `most`. Of an operator, an annotation or a Python call the launches inside it, too, each before its work;
  // of those that contain very much, only the first of it is looked through.
  EventLinkList of(EventId event, std::size_t most) const;

  // Those whose cause the event is, in the order of the trace.
  std::span<const EventId> effects_of(EventId event) const;

  std::size_t memory_bytes() const { return effects_.capacity() * sizeof(EventId); }

 private:
  const Trace& trace_;
  std::vector<EventId> effects_;  // events with a cause, by cause
};

}  // namespace telltale
