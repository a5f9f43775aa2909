// How long the host waits for collectives that it runs itself (gloo, MPI), and how much of that the network can
// explain.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "advise/facts.h"

namespace telltale {

// A network that carries less is rare between machines that train together: 1 Gbit/s. In a ring, each rank sends and
// receives its gradients twice.
inline constexpr double kSlowestNetwork = 117e6;  // bytes per second
inline constexpr double kTimesSent = 2;

struct RankWaits {
  std::vector<EventId> collectives;         // in the steps, longest first
  std::map<EventId, Nanoseconds> by_event;  // of an event's own time, that waits for a collective; only the steps'
  Nanoseconds waited = 0;                   // per step
  std::optional<double> bytes;              // per step, handed to collectives; nothing where no shapes were recorded
  // Of the wait, what even the slowest network does not take: other ranks come later. Nothing where the bytes are not
  // known.
  std::optional<Nanoseconds> for_ranks() const;
};

RankWaits rank_waits(const Facts& facts);

// The program without that share of its waits for collectives.
Edit without_rank_waits(const Facts& facts, const RankWaits& waits, double share);

}  // namespace telltale
