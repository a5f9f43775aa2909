// The steps of a trace and how long one takes: the period with which the program repeats itself, as it was recorded.
//
// Pure and thread-safe; linear in events, but for sorting the device work of each step by start, which streams have
// done already.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/step_range.h"
#include "base/intervals.h"
#include "trace/trace.h"

namespace telltale {

enum class StepSource : std::uint8_t {
  kMarks,      // ProfilerStep annotations
  kOptimizer,  // from one optimizer step to the next
  kPattern,    // the call at the top of the busiest thread that repeats
  kWhole,      // none of these: the whole trace counts as one step
};
std::string_view name_of(StepSource source);

struct StepSpan {
  std::int64_t index = 0;
  Interval host;                // from its mark to the next one
  Interval device;              // from its first device work to its last; empty when it launched none
  Nanoseconds backlog = 0;      // from its first launch until that work began, behind what was launched before
  Nanoseconds device_busy = 0;  // how long the work that it launched occupies a device, each instant once
};

struct StepTiming {
  StepSource source = StepSource::kWhole;
  std::vector<StepSpan> steps;  // by start; never empty

  // The host's period is the mean distance of the steps' starts, the device's the mean time that one step's work keeps
  // it busy, each instant once: work of neighboring steps may overlap. A host that runs ahead makes marks too short, so
  // a step takes the longer of the two.
  Nanoseconds host_period = 0, device_period = 0;
  Nanoseconds median = 0;  // of the longer of both, step by step

  // What a breakdown divides: the steps on the host or, where the host runs ahead of the device, whole
  // periods of the device, from the first device work of the first step to that of the last.
  Interval window;
  double periods = 1;  // in the window

  Nanoseconds period() const { return static_cast<Nanoseconds>(static_cast<double>(window.length()) / periods); }
};

// Of all steps, marked or not.
StepTiming step_timing(const Trace& trace);

// Of the marked steps that a given range chooses; nothing where it chooses none.
std::optional<StepTiming> step_timing(const Trace& trace, const std::optional<StepRange>& range);

// The step whose host time contains `time`, as an index of timing.steps; -1 for none.
int step_at(const StepTiming& timing, Nanoseconds time);

// Whether a host event begins within a step, or the launch of what is on a device does.
bool is_in_steps(const Trace& trace, const StepTiming& timing, EventId event);

}  // namespace telltale
