#include "analysis/kernel_summary.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <unordered_map>
#include <utility>

#include "analysis/operator_work.h"
#include "trace/side_table.h"

namespace telltale {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;

// Operations a second at best, 0 when unknown.
double peak_flops(const GpuPeaks& peaks, KernelTraits traits) {
  constexpr double kProductsForFp32 = 3;  // of tf32, which NVIDIA's tensor cores need for one of fp32
  switch (traits.precision) {
    case Precision::kFp32:
      return traits.uses_tensor_cores && !is_amd(peaks) ? peaks.tf32_flops / kProductsForFp32 : peaks.fp32_flops;
    case Precision::kTf32:
      return peaks.tf32_flops;
    case Precision::kFp16:
    case Precision::kBf16:
      return traits.uses_tensor_cores ? peaks.half_flops : peaks.fp32_flops;
    case Precision::kFp8:
      return peaks.fp8_flops;
    case Precision::kInt8:
      return peaks.int8_flops;
    case Precision::kFp64:
      return peaks.fp64_flops;
    case Precision::kUnknown:
      break;
  }
  return 0;
}

// The least time for what a call, or all kernels of an operator together, compute and move.
std::optional<double> roofline_seconds(const OperatorWork& work, KernelTraits traits, const GpuPeaks& peaks) {
  if (!work.flops && !work.bytes) return std::nullopt;
  double seconds = work.bytes ? *work.bytes / peaks.memory_bytes : 0;
  if (work.flops) {
    const double peak = peak_flops(peaks, traits);
    if (peak == 0) return std::nullopt;
    seconds = std::max(seconds, *work.flops / peak);
  }
  return seconds;
}

// Collects the calls, and gives them what their operators' shapes tell.
class CallCollector {
 public:
  CallCollector(const Trace& trace, const StepTiming& timing)
      : trace_(trace), timing_(timing), class_of_(trace), copies_(trace.copies) {
    for (const Device& device : trace.devices) peaks_.emplace(device.id, peaks_of(device));
  }

  std::vector<DeviceCall> collect() {
    for (EventId event = 0; event < trace_.events.size(); ++event)
      if (is_device_work(trace_.events.kind[event]) && is_in_a_step(event)) add(event);
    share_out_work();
    return std::move(calls_);
  }

  std::optional<GpuPeaks> peaks_of_call(const DeviceCall& call) const {
    const auto found = peaks_.find(trace_.tracks[trace_.events.track[call.event]].device);
    return found == peaks_.end() ? std::nullopt : found->second;
  }

 private:
  bool is_in_a_step(EventId event) const {
    const EventId launch = trace_.events.cause[event];
    if (launch == kNoEvent) return timing_.source == StepSource::kWhole;
    return step_at(timing_, trace_.events.start[launch]) >= 0;
  }

  void add(EventId event) {
    DeviceCall call;
    call.event = event;
    call.op = trace_.operator_of(event);
    call.work = class_of_(event);
    described_by_.push_back(trace_.operator_at(trace_.origin_of(event)));
    const OperatorInputs* const inputs = inputs_of(described_by_.back());
    call.traits = traits(trace_.events.name[event], inputs == nullptr ? kEmptyString : inputs->types);
    if (const CopyInfo* copy = copies_.find(event); copy != nullptr && copy->bytes >= 0) set_copy(call, *copy);
    calls_.push_back(call);
  }

  // A copy within the device reads and writes, a fill only writes; what else moves is limited by the way to the host.
  void set_copy(DeviceCall& call, const CopyInfo& copy) const {
    const bool is_fill = trace_.events.kind[call.event] == Kind::kMemset;
    const bool is_within = copy.from == MemorySpace::kDevice && copy.to == MemorySpace::kDevice;
    call.bytes = static_cast<double>(copy.bytes) * (is_within ? 2 : 1);
    if (is_fill || is_within) set_roofline(call, {std::nullopt, call.bytes}, call.traits, 1);
  }

  // `share` is the call's part of the work. What a kernel finds in the device's cache can make it faster than the
  // memory; it is at the roofline then, not above it.
  void set_roofline(DeviceCall& call, const OperatorWork& work, KernelTraits main, double share) const {
    const std::optional<GpuPeaks> peaks = peaks_of_call(call);
    const std::optional<double> seconds = peaks ? roofline_seconds(work, main, *peaks) : std::nullopt;
    const double taken = static_cast<double>(trace_.events.duration[call.event]) / kNanosecondsPerSecond;
    if (seconds) call.roofline_seconds = std::min(*seconds * share, taken);
  }

  const OperatorInputs* inputs_of(EventId op) const {
    const OperatorInfo* const info = op == kNoEvent ? nullptr : trace_.operators.find(op);
    if (info == nullptr || info->inputs == OperatorInfo::kNoInputs) return nullptr;
    return &trace_.operator_inputs[info->inputs];
  }

  KernelTraits traits(StringId name, StringId types) {
    const auto [at, is_new] = traits_.try_emplace(std::uint64_t{name} << 32 | types);
    if (is_new) at->second = traits_of_kernel(trace_.strings[name], trace_.strings[types]);
    return at->second;
  }

  const OperatorWork& work_of(EventId op) {
    const std::uint32_t inputs = trace_.operators.find(op)->inputs;
    const StringId name = trace_.events.name[op];
    const auto [at, is_new] = work_.try_emplace(std::uint64_t{name} << 32 | inputs);
    if (is_new) {
      const OperatorInputs& texts = trace_.operator_inputs[inputs];
      const auto& strings = trace_.strings;
      at->second = operator_work(strings[name], {strings[texts.shapes], strings[texts.strides], strings[texts.types],
                                                 strings[texts.concrete]});
    }
    return at->second;
  }

  void share_out_work() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < calls_.size(); ++i)
      if (trace_.events.kind[calls_[i].event] == Kind::kKernel && inputs_of(described_by_[i]) != nullptr)
        order.push_back(i);
    // What an operator captured into a graph runs once for each launch of that graph.
    const auto run_of = [this](std::uint32_t i) {
      const bool is_captured = calls_[i].op != described_by_[i];
      return std::pair(described_by_[i], is_captured ? trace_.events.cause[calls_[i].event] : kNoEvent);
    };
    std::ranges::stable_sort(order, {}, run_of);
    for (auto first = order.begin(); first != order.end();) {
      const auto run = run_of(*first);
      const auto last = std::find_if(first, order.end(), [&](std::uint32_t i) { return run_of(i) != run; });
      share_out_among(std::span(first, last), work_of(run.first));
      first = last;
    }
  }

  // The kernels of one operator. Those that do the main part are of the class that has the longest one; where there is
  // something to multiply, of a class that multiplies.
  void share_out_among(std::span<const std::uint32_t> kernels, const OperatorWork& work) {
    if (!work.flops && !work.bytes) return;
    const auto rank = [&](std::uint32_t i) {
      return std::pair(work.flops && multiplies(calls_[i].work), trace_.events.duration[calls_[i].event]);
    };
    const std::uint32_t main = *std::ranges::max_element(kernels, {}, rank);
    Nanoseconds total = 0;
    for (const std::uint32_t i : kernels)
      if (calls_[i].work == calls_[main].work) total += trace_.events.duration[calls_[i].event];
    if (total == 0) return;
    for (const std::uint32_t i : kernels) {
      if (calls_[i].work != calls_[main].work) continue;
      const double share = static_cast<double>(trace_.events.duration[calls_[i].event]) / static_cast<double>(total);
      if (work.flops) calls_[i].flops = *work.flops * share;
      if (work.bytes) calls_[i].bytes = *work.bytes * share;
      set_roofline(calls_[i], work, calls_[main].traits, share);
    }
  }

  static bool multiplies(WorkClass work) {
    return work == WorkClass::kMatmul || work == WorkClass::kConvolution || work == WorkClass::kAttention;
  }

  const Trace& trace_;
  const StepTiming& timing_;
  WorkClassifier class_of_;
  SideTableWalk<CopyInfo> copies_;
  std::unordered_map<DeviceId, std::optional<GpuPeaks>> peaks_;
  std::unordered_map<std::uint64_t, KernelTraits> traits_;  // by name and types
  std::unordered_map<std::uint64_t, OperatorWork> work_;    // by name and inputs
  std::vector<DeviceCall> calls_;
  std::vector<EventId>
      described_by_;  // by call: the operator whose shapes tell of it, the one that captured it or `op`
};

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

constexpr std::int64_t kWarp = 32;

std::int64_t warps_per_block(const KernelLaunch& launch) {
  return rounded_up(std::int64_t{launch.block[0]} * launch.block[1] * launch.block[2], kWarp) / kWarp;
}

// How many blocks of a launch fit on a multiprocessor at a time, by CUDA's rules; nothing when a limit is unknown.
std::optional<std::int64_t> resident_blocks(const KernelLaunch& launch, const Device& device) {
  constexpr std::int64_t kRegistersPerUnit = 256, kMostBlocks = 32, kReservedSharedMemory = 1024;
  const std::int64_t warps = warps_per_block(launch);
  const bool is_cudas = device.warp_size.value_or(kWarp) == kWarp;
  if (!is_cudas || warps <= 0 || !device.max_threads_per_multiprocessor) return std::nullopt;
  std::int64_t blocks = std::min<std::int64_t>(kMostBlocks, *device.max_threads_per_multiprocessor / (warps * kWarp));
  if (launch.registers_per_thread > 0 && device.registers_per_multiprocessor) {
    const std::int64_t per_warp = rounded_up(launch.registers_per_thread * kWarp, kRegistersPerUnit);
    blocks = std::min(blocks, *device.registers_per_multiprocessor / (per_warp * warps));
  }
  if (launch.shared_memory_bytes >= 0 && device.shared_memory_per_multiprocessor) {
    const std::int64_t per_block = launch.shared_memory_bytes + kReservedSharedMemory;
    blocks = std::min(blocks, *device.shared_memory_per_multiprocessor / per_block);
  }
  return blocks > 0 ? std::optional(blocks) : std::nullopt;
}

// How much of a multiprocessor's room the blocks that it holds at a time take. Kineto's own estimate is 0 for kernels
// that ask for much shared memory.
std::optional<double> occupancy_of(const KernelLaunch& launch, const Device& device) {
  const std::optional<std::int64_t> resident = resident_blocks(launch, device);
  if (!resident || launch.blocks_per_multiprocessor < 0) return std::nullopt;
  const double held = std::min(static_cast<double>(*resident), static_cast<double>(launch.blocks_per_multiprocessor));
  return 100 * held * static_cast<double>(warps_per_block(launch) * kWarp) / *device.max_threads_per_multiprocessor;
}

// A mean of what only some calls have, weighted by their time.
class WeightedMean {
 public:
  void add(double value, Nanoseconds weight) {
    sum_ += value * static_cast<double>(weight);
    weight_ += static_cast<double>(weight);
  }
  std::optional<double> value() const { return weight_ > 0 ? std::optional(sum_ / weight_) : std::nullopt; }

 private:
  double sum_ = 0, weight_ = 0;
};

// What is known of some calls, and the time of these.
class Rate {
 public:
  void add(std::optional<double> amount, Nanoseconds time) {
    if (!amount) return;
    amount_ += *amount;
    time_ += time;
  }
  std::optional<double> per_second() const {
    return time_ > 0 ? std::optional(amount_ * kNanosecondsPerSecond / static_cast<double>(time_)) : std::nullopt;
  }

 private:
  double amount_ = 0;
  Nanoseconds time_ = 0;
};

struct RowSums {
  StringId name = kEmptyString;
  KernelRow row;
  Nanoseconds total = 0, longest = -1;
  WeightedMean occupancy, blocks, waves;
  Rate flops, bytes, roofline;
};

// Adds the calls up, one row a name and class.
class RowMaker {
 public:
  RowMaker(const Trace& trace, std::size_t steps) : trace_(trace), steps_(steps), kernels_(trace.kernels) {}

  void add(const DeviceCall& call) {
    const Nanoseconds time = trace_.events.duration[call.event];
    RowSums& sums = sums_of(call);
    ++sums.row.calls;
    sums.total += time;
    sums.flops.add(call.flops, time);
    sums.bytes.add(call.bytes, time);
    sums.roofline.add(call.roofline_seconds, time);
    if (time > sums.longest) {
      sums.longest = time;
      sums.row.example = call.event;
      sums.row.traits = call.traits;
    }
    add_launch(call.event, time, sums);
  }

  std::vector<KernelRow> rows() && {
    std::stable_sort(sums_.begin(), sums_.end(), [](const RowSums& a, const RowSums& b) { return a.total > b.total; });
    std::vector<KernelRow> rows;
    rows.reserve(sums_.size());
    for (RowSums& sums : sums_) rows.push_back(finished(sums));
    return rows;
  }

 private:
  RowSums& sums_of(const DeviceCall& call) {
    const StringId name = trace_.events.name[call.event];
    const std::uint64_t key = std::uint64_t{name} << 8 | static_cast<std::uint64_t>(call.work);
    const auto [at, is_new] = index_.try_emplace(key, sums_.size());
    if (is_new) {
      sums_.emplace_back();
      sums_.back().name = name;
      sums_.back().row.work = call.work;
    }
    return sums_[at->second];
  }

  void add_launch(EventId event, Nanoseconds time, RowSums& sums) {
    const KernelInfo* const info = kernels_.find(event);
    if (info == nullptr) return;
    const KernelLaunch& launch = trace_.kernel_launches[info->launch];
    if (launch.blocks_per_multiprocessor >= 0) sums.blocks.add(launch.blocks_per_multiprocessor, time);
    const Device* const device = device_of(event);
    const std::optional<double> waves = device == nullptr ? std::nullopt : waves_of(launch, *device);
    const std::optional<double> occupancy = device == nullptr ? std::nullopt : occupancy_of(launch, *device);
    if (waves) sums.waves.add(*waves, time);
    if (occupancy)
      sums.occupancy.add(*occupancy, time);
    else if (launch.occupancy_percent >= 0)
      sums.occupancy.add(launch.occupancy_percent, time);
  }

  const Device* device_of(EventId event) const {
    const DeviceId id = trace_.tracks[trace_.events.track[event]].device;
    const auto found = std::ranges::find(trace_.devices, id, &Device::id);
    return found == trace_.devices.end() ? nullptr : &*found;
  }

  KernelRow finished(RowSums& sums) const {
    KernelRow row = std::move(sums.row);
    row.name = trace_.strings[sums.name];
    row.device_ns = sums.total / static_cast<Nanoseconds>(steps_);
    row.mean_ns = static_cast<double>(sums.total) / static_cast<double>(row.calls);
    row.occupancy_percent = sums.occupancy.value();
    row.blocks_per_multiprocessor = sums.blocks.value();
    row.waves = sums.waves.value();
    row.flops_per_second = sums.flops.per_second();
    row.bytes_per_second = sums.bytes.per_second();
    row.roofline_percent = sums.roofline.per_second();
    if (row.roofline_percent) *row.roofline_percent *= 100;
    return row;
  }

  const Trace& trace_;
  std::size_t steps_;
  SideTableWalk<KernelInfo> kernels_;
  std::unordered_map<std::uint64_t, std::size_t> index_;  // by name and class
  std::vector<RowSums> sums_;
};

}  // namespace

std::optional<double> waves_of(const KernelLaunch& launch, const Device& device) {
  const std::optional<std::int64_t> resident = resident_blocks(launch, device);
  if (!resident || launch.blocks_per_multiprocessor < 0) return std::nullopt;
  return static_cast<double>(launch.blocks_per_multiprocessor) / static_cast<double>(*resident);
}

KernelSummary kernel_summary(const Trace& trace, const StepTiming& timing) {
  KernelSummary summary;
  CallCollector collector(trace, timing);
  summary.calls = collector.collect();
  if (!summary.calls.empty()) summary.peaks = collector.peaks_of_call(summary.calls.front());
  RowMaker maker(trace, std::max<std::size_t>(timing.steps.size(), 1));
  for (const DeviceCall& call : summary.calls) maker.add(call);
  summary.rows = std::move(maker).rows();
  return summary;
}

}  // namespace telltale
