// Device work by kernel: what it is, in which precision, how well it fills the device, how far it is from the roofline.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/gpu_peaks.h"
#include "analysis/step_timing.h"
#include "analysis/work_class.h"
#include "trace/trace.h"

namespace telltale {

enum class Precision : std::uint8_t { kUnknown, kFp64, kFp32, kTf32, kFp16, kBf16, kFp8, kInt8 };
std::string_view name_of(Precision precision);

// What a kernel's name says, helped by the types of its operator's inputs where the name says nothing.
struct KernelTraits {
  Precision precision = Precision::kUnknown;
  bool uses_tensor_cores = false;
};
KernelTraits traits_of_kernel(std::string_view kernel_name, std::string_view operator_types);

// One call of device work with what its operator's shapes tell.
struct DeviceCall {
  EventId event = kNoEvent;
  EventId op = kNoEvent;  // the operator that launched it
  WorkClass work = WorkClass::kOther;
  KernelTraits traits;
  // Of the operator, given to the longest of its kernels; absent without shapes or formula. Bytes: every input and
  // output once.
  std::optional<double> flops, bytes;
  std::optional<double> roofline_seconds;  // the least time that flops and bytes allow at this precision
};

struct KernelRow {
  std::string name;
  WorkClass work = WorkClass::kOther;
  KernelTraits traits;
  std::int64_t calls = 0;                                                     // in all steps
  Nanoseconds device_ns = 0;                                                  // a step, summed over calls
  double mean_ns = 0;                                                         // a call
  std::optional<double> occupancy_percent, blocks_per_multiprocessor, waves;  // means weighted by time
  std::optional<double> flops_per_second, bytes_per_second;
  std::optional<double> roofline_percent;  // 100: as fast as the ceilings allow
  EventId example = kNoEvent;              // the longest call
};

struct KernelSummary {
  std::vector<DeviceCall> calls;  // device work of the timing's steps, by event id
  std::vector<KernelRow> rows;    // by falling time
  std::optional<GpuPeaks> peaks;
};

KernelSummary kernel_summary(const Trace& trace, const StepTiming& timing);

}  // namespace telltale
