// How busy the machine was, by what a recorder of ours counts ten times a second.
//
// Pure and thread-safe.
#pragma once

#include <optional>

#include "base/intervals.h"
#include "trace/trace.h"

namespace telltale {

// In processors, on average.
struct MachineLoad {
  double processors = 0;      // that the process may use
  double busy = 0;            // of these
  std::optional<double> own;  // kept busy by the process and its children, where that was counted

  // Kept busy by all other processes; 0 where it is not known.
  double by_others() const;
  // Whether others take what the process would use.
  bool is_contended() const;
};

// Nothing where the recording does not say it.
std::optional<MachineLoad> machine_load(const Trace& trace, Interval window);

}  // namespace telltale
