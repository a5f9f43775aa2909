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

// Events that could not be linked as they should be.
struct LinkTrouble {
  std::vector<EventId> ambiguous;  // several launches share its correlation
  std::vector<EventId> lost;       // no launch, or no forward operator, is in the trace
};

// Fills `cause` of device rows and of API calls outside operators. Needs `parent`. `links` are those of device rows and
// API calls; `operator_links` is asked for those of operators, which only a broken trace needs.
LinkTrouble link_launches(Events& events, std::span<const EventLink> links,
                          const std::function<std::vector<EventLink>()>& operator_links);

// Fills `cause` of backward operators.
LinkTrouble link_backward(Trace& trace, std::span<const ForwardThread> threads);

}  // namespace telltale
