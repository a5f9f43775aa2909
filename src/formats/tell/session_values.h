// What the session and the loss counters of a recording say, in the words of a trace.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "formats/tell/definitions.h"
#include "trace/recording_facts.h"

namespace telltale::tell {

// The session's pairs as values about the recording: JSON where a text is a JSON list or object, else text. What
// the reader itself uses up (pid, clocks) is left out, and "meta:" is taken off the user's own keys.
NamedValues session_values(const Definitions& definitions);

struct LossSummary {
  std::uint64_t records = 0;
  // Of records that are there.
  std::uint64_t values_cut = 0;
  std::uint64_t names_not_kept = 0;
  std::string reasons;  // "800 for want of memory, 3 in signal handlers"
};
// Without what left the window of a flight recorder, which is no loss.
LossSummary summary_of(const std::vector<std::pair<LossReason, std::uint64_t>>& losses);

// Of what the session says as `ended_by`: "It was ended by signal 9 (Killed)", "Its process ended with exit code 3".
std::string ended_text(std::string_view ended_by);

// "It reaches 12.3 s; at most the next 25.0 ms of each of 4 threads are lost". Where the work of a device is taken over
// every `device_flush`: "It reaches 12.3 s; at most the next 25.0 ms are lost, and 200 ms of the GPU".
std::string unfinished_text(Nanoseconds reach, Nanoseconds flush, Nanoseconds device_flush, std::size_t threads);

}  // namespace telltale::tell
