// Steps that ran while nothing was recorded, and what they took: the only steps that recording did not make longer.
//
// Recorders tell of them in three ways.
// - The value `unrecorded_steps` of the file's header, by a recorder that knows when it records: a list of stretches
//   of consecutive steps, {"when": "before" | "paused" | "after", "first": 7, "took_ns": [12000000, …]}.
// - The value `timed_steps`, by one that times steps beside another recorder and does not know what that one does:
//   {"warmup": 2, "first": 0, "began_ns": …, "took_ns": […]}, the beginning of the first in wall-clock time. Those that
//   lie outside the trace are unrecorded, but for the `warmup` ones right before it, when the recorder was at work
//   already.
// - Annotations called UnrecordedStep, where the recorder paused for a few steps. One called UnrecordedWait behind them
//   says how long the device had still to do with what they asked for, as the value `unrecorded_wait_ns` of the header
//   does for a pause that ends the recording. The steps of a pause take that time together.
//
// Pure and thread-safe.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/intervals.h"
#include "trace/trace.h"

namespace telltale {

inline constexpr std::string_view kUnrecordedSteps = "unrecorded_steps";
inline constexpr std::string_view kTimedSteps = "timed_steps";
inline constexpr std::string_view kUnrecordedStep = "UnrecordedStep";
inline constexpr std::string_view kUnrecordedWait = "UnrecordedWait";
inline constexpr std::string_view kLastUnrecordedWait = "unrecorded_wait_ns";

enum class Unrecorded : std::uint8_t {
  kBefore,  // the recording
  kPaused,  // within it
  kAfter,
};
inline constexpr int kUnrecordedCount = 3;

// Consecutive steps: each ends where the next one begins.
struct UnrecordedStretch {
  Unrecorded when = Unrecorded::kBefore;
  std::int64_t first = 0;  // the number of its first step, from the start of the program; 0 where it is not known
  std::vector<Nanoseconds> took;
  // How long the device had still to do with them is not known, which may have been long.
  bool is_of_host_alone = false;
  // Of a pause at whose end the device was behind: what each took by the host's clock. Else empty.
  std::vector<Nanoseconds> by_host;

  bool operator==(const UnrecordedStretch&) const = default;
};

// In the order in which they are told of. What is written otherwise than above is passed over.
std::vector<UnrecordedStretch> unrecorded_steps(const Trace& trace);

// When the recorder paused, ascending: from the end of the step before, or of the device work of that step, to the
// start of the step after.
std::vector<Interval> pauses(const Trace& trace);

// The trace as if the pauses had taken no time, so that the steps around one follow each other. Events keep their
// ids; steps of the pauses are told of by `unrecorded_steps` alone. For a trace that has pauses.
Trace without_pauses(const Trace& trace);

}  // namespace telltale
