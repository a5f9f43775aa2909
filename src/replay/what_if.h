// What a step would take if parts of it were gone, faster or slower.
//
// Pure and thread-safe; linear in the trace's events for each pattern.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/step_range.h"
#include "analysis/step_timing.h"
#include "replay/event_pattern.h"
#include "replay/step_graph.h"
#include "trace/trace.h"

namespace telltale {

// A host event stands for all that it calls and for the device work launched within; device work stands for itself.
struct PatternChange {
  EventPattern pattern;
  double factor = 0;  // of all their times; 0 removes them
};

// How many times as long an event may become, by all that match it together: nanoseconds that are multiplied by more
// would soon be more than can be counted.
inline constexpr double kLargestFactor = 10'000;

struct Changes {
  std::vector<PatternChange> patterns;  // of events that several match, each takes its share
  bool drops_waits = false;             // no call waits for the device
  bool has_instant_data = false;        // batches are there when they are asked for
  bool runs_as_graph = false;           // see capture_in_graph()
  bool leaves_out_observer = false;     // see without_observer()

  // The observer aside, which is no part of the program.
  bool has_any() const { return !patterns.empty() || drops_waits || has_instant_data || runs_as_graph; }
};

// How much of the steps a change is about, in all steps together.
struct Reach {
  std::int64_t calls = 0;        // host events
  std::int64_t device_work = 0;  // that was named, or launched within those calls
};

enum class Bottleneck : std::uint8_t {
  kBusyDevice,  // it works all the time
  kBusyHost,    // likewise
  kNeither,     // they wait for each other, or for something the trace does not show
};
std::string_view name_of(Bottleneck bottleneck);  // "device", "host", "neither"

struct WhatIf {
  std::string path;  // as the caller names it
  Changes changes;
  StepTiming timing;
  Nanoseconds recorded = 0;  // a step as it was recorded
  // Replayed without and with the changes. The observer is left out of both, or of the latter alone when that is the
  // only change.
  ReplayedStep before, after;
  bool has_device = false;   // the steps launch device work
  std::vector<Reach> reach;  // by pattern
  Reach waits, data, graph;  // of the other changes; empty where they were not asked for

  Nanoseconds saved() const { return before.period - after.period; }
  double saved_percent() const;  // of the step before
  Bottleneck bottleneck() const { return bottleneck_of(after); }
  static Bottleneck bottleneck_of(const ReplayedStep& step);
};

// `steps` must choose a step of the trace where it is given: see steps_in().
WhatIf what_if(const Trace& trace, const Changes& changes, const std::optional<StepRange>& steps = {});

}  // namespace telltale
