// The steps of a trace and how long one takes: the period with which the program repeats itself, as it was recorded.
//
// Pure and thread-safe; linear in events, but for sorting the device work of each step by start, which streams have
// done already.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/found_steps.h"
#include "analysis/step_range.h"
#include "base/intervals.h"
#include "trace/trace.h"

namespace telltale {

struct StepSpan {
  std::int64_t index = 0;
  Interval host;                // until the next one begins: see found_steps.h
  Interval device;              // from its first device work to its last; empty when it launched none
  Nanoseconds backlog = 0;      // from its first launch until that work began, behind what was launched before
  Nanoseconds device_busy = 0;  // how long the work that it launched occupies a device, each instant once
  bool is_outlier = false;      // see outlying_steps.h
  bool is_cut = false;          // see cut_steps.h
  bool is_counted = true;       // whether it is one of those that all numbers are about

  // How long it takes: a host that runs ahead of the device makes steps too short.
  Nanoseconds duration() const { return std::max(host.length(), device_busy); }
};

struct StepTiming {
  StepSource source = StepSource::kWhole;
  // What all numbers are about: steps that follow one another, by start; never empty.
  std::vector<StepSpan> steps;
  // The others, by start: cut steps, outliers, and steps that a pause or an outlier parts from those that count.
  std::vector<StepSpan> left_out;

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

// Of all steps, marked or not, but for outliers.
StepTiming step_timing(const Trace& trace);

// Of the steps that a given range chooses; nothing where it chooses none. A range that was asked for leaves none of its
// steps out.
std::optional<StepTiming> step_timing(const Trace& trace, const std::optional<StepRange>& range);

// Those that count and those that do not, by start.
std::vector<StepSpan> all_steps(const StepTiming& timing);

// The step that counts whose host time contains `time`, as an index of timing.steps; -1 for none.
int step_at(const StepTiming& timing, Nanoseconds time);

// Whether a host event begins within a step, or the launch of what is on a device does.
bool is_in_steps(const Trace& trace, const StepTiming& timing, EventId event);

}  // namespace telltale
