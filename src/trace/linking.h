// What caused what: launches of device work, forward operators of backward ones.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "trace/trace.h"

namespace telltale {

// The ids of one row that tie it to others.
struct EventLink {
  EventId event = kNoEvent;
  std::int64_t correlation = 0;  // 0: none
  std::int64_t external_id = 0;  // 0: none
};

// Which track torch's own number of a forward thread stands for.
struct ForwardThread {
  std::uint32_t number = 0;
  TrackId track = 0;
};

// Where an event stands in the file, for the anomalies' examples.
using OffsetOf = std::function<std::uint64_t(EventId)>;

// Fills `cause` of device rows and of API calls outside operators. Needs `parent`.
void link_launches(Trace& trace, std::span<const EventLink> links, const OffsetOf& offset_of);

// Fills `cause` of backward operators.
void link_backward(Trace& trace, std::span<const ForwardThread> threads, const OffsetOf& offset_of);

}  // namespace telltale
