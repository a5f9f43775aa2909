// Collectives: how long they run, and how much of that no computation hides.
//
// A collective is known by its metadata, on itself or on the operator that launched it, or by its kernel's name.
// Pure and thread-safe; linear in events, but for merging the streams of a device by time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/step_timing.h"
#include "trace/trace.h"

namespace telltale {

struct CollectiveRow {
  std::string name;                           // "allreduce", or the kernel's name where there is no metadata
  double calls = 0;                           // a step, likewise below
  std::optional<double> bytes;                // sent in, by the calls that say so
  Nanoseconds device_ns = 0, exposed_ns = 0;  // each instant once
};

struct Communication {
  DeviceId device = kHost;                        // the one that communicates most; kHost when none does
  Nanoseconds total_ns = 0;                       // a step, each instant once
  Nanoseconds exposed_ns = 0;                     // of it, while the device computes nothing
  std::vector<CollectiveRow> rows;                // by falling time
  std::optional<double> overlap_percent() const;  // of it that computing hides; nothing without communication
};

// Of what the timing's steps launched.
Communication communication(const Trace& trace, const StepTiming& timing);

}  // namespace telltale
