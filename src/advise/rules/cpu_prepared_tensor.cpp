// Data that the host converts and computes on, operator by operator, right before it copies it to the device.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <string_view>
#include <vector>

#include "advise/models/host_cost.h"
#include "advise/patterns/device_work.h"
#include "advise/patterns/freed_memory.h"
#include "advise/patterns/prepared_tensors.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// What an operator costs the host that only launches a kernel.
constexpr float kLaunchingOperator = 10'000;
// Kernels that only move memory reach this share of its bandwidth, and take at least this long.
constexpr double kReachedBandwidth = 0.85;
constexpr double kShortestKernel = 4e3;
// Bytes per nanosecond where the device's own are not known.
constexpr double kUnknownBandwidth = 1e3;
constexpr double kUncertainty = 0.3;

// What the device takes for what the host did, in nanoseconds: each operator reads what it was given, and writes what
// the next one reads.
double device_time(const Facts& facts, const PreparedTensor& tensor) {
  const auto& peaks = facts.diagnosis.kernels.peaks;
  const double bandwidth = kReachedBandwidth * (peaks ? peaks->memory_bytes / 1e9 : kUnknownBandwidth);
  double time = 0;
  for (std::size_t i = 0; i < tensor.work.size(); ++i) {
    const double written = i + 1 < tensor.work.size() ? tensor.work[i + 1].bytes : tensor.bytes;
    time += std::max(kShortestKernel, (tensor.work[i].bytes + written) / bandwidth);
  }
  return time;
}

// What operators make in place of their argument is not freed behind them.
bool makes_a_tensor(std::string_view op) { return !op.ends_with('_'); }

// Time in which what was made on the way is freed, by the call whose own time it is part of.
std::map<EventId, Nanoseconds> freeing(const Facts& facts, const std::vector<PreparedTensor>& tensors) {
  std::map<EventId, Nanoseconds> times;
  const auto add_behind = [&](EventId call) {
    if (const std::optional<FreedMemory> freed = freed_behind(facts, call)) times[freed->within] += freed->time;
  };
  for (const PreparedTensor& tensor : tensors) {
    for (const PreparingOperator& work :
         tensor.work | std::views::drop(1))  // the first one reads what the host was given
      if (makes_a_tensor(facts.trace.name(work.op))) add_behind(work.op);
    add_behind(tensor.copied_by);
  }
  return times;
}

// The host copies what it was given, and launches kernels that compute the rest. What it made on the way need not be
// freed.
Edit prepared_on_device(const Facts& facts, const std::vector<PreparedTensor>& tensors) {
  const Trace& trace = facts.trace;
  Edit edit = facts.unobserved;
  double on_device = 0;
  for (const PreparedTensor& tensor : tensors) {
    for (const PreparingOperator& work : tensor.work) {
      const auto taken = static_cast<float>(std::max<Nanoseconds>(trace.events.duration[work.op], 1));
      edit.scale_subtree(trace, facts.launched, work.op, std::min(1.0F, kLaunchingOperator / taken), 1);
    }
    const auto left = static_cast<float>(tensor.raw_bytes() / tensor.bytes);
    edit.scale_event(trace, tensor.copy, left);
    edit.scale_event(trace, trace.launch_of(tensor.copy), left);
    on_device += device_time(facts, tensor);
  }
  for (const auto& [call, time] : freeing(facts, tensors)) {
    const auto own = static_cast<float>(std::max(facts.host_cost().own_time(call), time));
    edit.scale_event(trace, call, 1 - static_cast<float>(time) / own);
  }
  edit.added_device_ns += static_cast<Nanoseconds>(on_device / facts.steps());
  return edit;
}

// "36.8 MiB per step are copied, which were 9.19 MiB before", for a second sentence.
std::string bytes_text(double bytes, double raw) {
  if (raw == bytes) return fmt::format("{} per step are copied", format_bytes(bytes));
  return fmt::format("{} per step are copied, which were {} before", format_bytes(bytes), format_bytes(raw));
}

// ", and freeing what they made 6.10 ms", where Python does for a while.
std::string freed_text(const Facts& facts, Nanoseconds freed) {
  if (freed == 0) return {};
  return fmt::format(", and freeing what they made {}",
                     format_time(static_cast<Nanoseconds>(static_cast<double>(freed) / facts.steps())));
}

std::vector<Finding> find(const Facts& facts) {
  const std::vector<PreparedTensor> tensors = prepared_tensors(facts);
  if (tensors.empty()) return {};
  const Edit edit = prepared_on_device(facts, tensors);
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};

  Finding finding;
  CallSum sum(facts);
  std::map<StringId, Nanoseconds> by_name;
  double bytes = 0, raw = 0, on_device = 0;
  for (const PreparedTensor& tensor : tensors) {
    for (const PreparingOperator& work : tensor.work) {
      sum.add(work.op);
      by_name[facts.trace.events.name[work.op]] += facts.trace.events.duration[work.op];
    }
    bytes += tensor.bytes;
    raw += tensor.raw_bytes();
    on_device += device_time(facts, tensor);
  }
  Nanoseconds freed = 0;
  for (const auto& [call, time] : freeing(facts, tensors)) freed += time;
  const auto most = std::ranges::max_element(by_name, {}, [](const auto& named) { return named.second; });
  finding.evidence = sum.longest();
  finding.source = source_line(facts.trace, finding.evidence.front());
  finding.title = "Inputs are prepared on the CPU, then copied to the GPU";
  finding.explanation = fmt::format(
      "Operators on the CPU, mostly {}, take {} per recorded step{}; the GPU would take about {} for the same. {}.",
      facts.trace.strings[most->first], format_time(sum.time_per_step()), freed_text(facts, freed),
      format_time(static_cast<Nanoseconds>(on_device / facts.steps())),
      bytes_text(bytes / facts.steps(), raw / facts.steps()));
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(edit);
  finding.reach = changed_by(facts, edit);
  finding.fix = {"build_on_device",
                 "Copy the data as it comes, and convert and compute it on the GPU; or let a loader's workers do it "
                 "ahead of time.",
                 "- x = (torch.from_numpy(raw).float() / 255 - 0.5).to(device)\n"
                 "+ x = torch.from_numpy(raw).to(device).float() / 255 - 0.5"};
  return {finding};
}

}  // namespace

Rule rules::cpu_prepared_tensor() {
  return {
      {.title = "Inputs prepared on the CPU, in the step",
       .looks_for = "Operators that convert or compute on a tensor of the CPU (to, div, flip, pad, stft and the like), "
                    "one of them for longer than a dispatch takes, before it is copied to the GPU. What the "
                    "workers of a data loader do does not count.",
       .needs = "CPU and CUDA activities and shapes; stacks for the source line.",
       .cannot_do_without = {{Need::kDevice}, {Need::kShapes}},
       .saving = fmt::format(
           "The steps are replayed with operators that launch a kernel instead of computing, with a copy of as "
           "many bytes as the data had before it was converted, and with what the kernels take at {:.0f} % of the "
           "GPU's bandwidth. Python's time behind an operator that read 32 MiB or more counts as freeing that "
           "memory, and is left out.",
           100 * kReachedBandwidth),
       .held = "A program that converted and normalized its images in the step was promised 66 % (46 to 86) and "
               "gained 73, with the copy from pinned memory as well.",
       .fixes = {"build_on_device"}},
      find};
}

}  // namespace telltale
