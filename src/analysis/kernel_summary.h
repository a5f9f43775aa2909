// Device work by kernel: what it is, in which precision, how well it fills the device, how far it is from the roofline.
//
// Pure and thread-safe; linear in the trace's events, but for sorting device work by operator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/gpu_peaks.h"
#include "analysis/kernel_traits.h"
#include "analysis/step_timing.h"
#include "analysis/work_class.h"
#include "trace/trace.h"

namespace telltale {

// One call of device work with what its operator's shapes tell.
struct DeviceCall {
  EventId event = kNoEvent;
  EventId op = kNoEvent;  // the operator that launched it
  WorkClass work = WorkClass::kOther;
  KernelTraits traits;
  // Of the operator (operator_work.h), shared by those of its kernels that do the main part, as their times are; of a
  // copy, its own bytes. Absent without shapes or formula.
  std::optional<double> flops, bytes;
  // The least time that flops and bytes allow at this precision, and at most what the call took. Absent for copies that
  // leave the device.
  std::optional<double> roofline_seconds;
};

struct KernelRow {
  std::string name;
  WorkClass work = WorkClass::kOther;
  KernelTraits traits;                                                        // of the example
  std::int64_t calls = 0;                                                     // in all steps
  Nanoseconds device_ns = 0;                                                  // a step, summed over calls
  double mean_ns = 0;                                                         // a call
  std::optional<double> occupancy_percent, blocks_per_multiprocessor, waves;  // means weighted by time
  std::optional<double> flops_per_second, bytes_per_second;                   // of the calls where they are known
  std::optional<double> roofline_percent;                                     // 100: as fast as the ceilings allow
  EventId example = kNoEvent;                                                 // the longest call
};

struct KernelSummary {
  std::vector<DeviceCall> calls;  // device work of the timing's steps, by event id
  std::vector<KernelRow> rows;    // one a name and class of work, by falling time
  std::optional<GpuPeaks> peaks;  // of the first device that has work
};

KernelSummary kernel_summary(const Trace& trace, const StepTiming& timing);

// How many rounds of blocks a launch takes: below 1, multiprocessors have room left. Nothing where the trace does not
// have the launch or the device's limits.
std::optional<double> waves_of(const KernelLaunch& launch, const Device& device);

}  // namespace telltale
