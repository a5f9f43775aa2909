// Kernels on float64: twice the bytes of float32, and on most GPUs a small part of its speed.
#include <fmt/format.h>

#include <algorithm>

#include "advise/patterns/device_work.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// What products in float32 reach of its peak without tensor cores: on an H200, those of fp32_matmul_no_tf32 reached
// 0.63 to 0.8.
constexpr double kLeastReached = 0.6, kReached = 0.7, kMostReached = 0.8;
// And of the memory's bandwidth where that is what they wait for: elementwise kernels in float32 reached 0.85 to 0.92.
constexpr double kReachedBandwidth = 0.85;
// What only moves numbers moves half of the bytes.
constexpr double kMovesLeft = 0.5;
// Below this a kernel's time is that of starting it.
constexpr double kShortestKernel = 4e-6;
// Of the rate of float32, below which a GPU's rate for float64 is worth a word.
constexpr double kTellingRatio = 2;

// As recorded.
double seconds_of(const Facts& facts, const DeviceCall& call) {
  return static_cast<double>(facts.trace.events.duration[call.event]) / 1e9;
}

// In float32, when products reach this share of its peak: they may take longer than in float64 where tensor cores
// compute that. Without peaks or shapes of a product, half: it has half of the bytes.
double seconds_in_float32(const Facts& facts, const DeviceCall& call, double reached) {
  const auto& peaks = facts.diagnosis.kernels.peaks;
  const double taken = seconds_of(facts, call), shortest = std::min(taken, kShortestKernel);
  if (!call.flops || !peaks || peaks->fp32_flops <= 0 || peaks->memory_bytes <= 0)
    return std::max(shortest, kMovesLeft * taken);
  const double seconds = std::max(*call.flops / (reached * peaks->fp32_flops),
                                  call.bytes.value_or(0) / 2 / (kReachedBandwidth * peaks->memory_bytes));
  return std::max(shortest, seconds * facts.slower_when_recorded());
}

Edit in_float32(const Facts& facts, const std::vector<DeviceCall>& calls, double reached) {
  Edit edit = facts.unobserved;
  for (const DeviceCall& call : calls) {
    const double taken = std::max(seconds_of(facts, call), 1e-9);
    edit.scale_event(facts.trace, call.event, static_cast<float>(seconds_in_float32(facts, call, reached) / taken));
  }
  return edit;
}

// How many times as fast the device is in float32, as a sentence behind another; empty where that is less than twice.
std::string rate_sentence(const Facts& facts) {
  const auto& peaks = facts.diagnosis.kernels.peaks;
  if (!peaks || peaks->fp64_flops <= 0 || peaks->fp32_flops < kTellingRatio * peaks->fp64_flops) return {};
  return fmt::format(" This GPU computes float32 {:.0f} times as fast.", peaks->fp32_flops / peaks->fp64_flops);
}

std::vector<Finding> find(const Facts& facts) {
  std::vector<DeviceCall> calls;
  CallSum sum(facts);
  double left = 0;
  for (const DeviceCall& call : facts.diagnosis.kernels.calls) {
    if (!computes_in_float64(facts, call)) continue;
    calls.push_back(call);
    sum.add(call.event);
    left += seconds_in_float32(facts, call, kReached) * 1e9;
  }
  if (calls.empty()) return {};
  const Edit edit = in_float32(facts, calls, kReached);
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};

  Finding finding;
  finding.saving.likely = likely;
  finding.saving.low = std::clamp<Nanoseconds>(facts.saved_by(in_float32(facts, calls, kLeastReached)), 0, likely);
  finding.saving.high = std::max(likely, facts.saved_by(in_float32(facts, calls, kMostReached)));
  finding.edit = facts.kept(edit);
  finding.reach = changed_by(facts, edit);
  finding.confidence = facts.trace.recorded.shapes ? Confidence::kHigh : Confidence::kMedium;
  finding.evidence = sum.longest();
  finding.source = source_line(facts.trace, finding.evidence.front());
  finding.title = "The GPU computes in float64";
  const bool is_one = sum.calls_per_step() == 1;
  finding.explanation = fmt::format(
      "{} on float64 {} {}; on float32 {} would take about {}.{}", counted(sum.calls_per_step(), "kernel"),
      is_one ? "takes" : "take", time_and_share(facts, sum.time_per_step()), is_one ? "it" : "they",
      format_time(static_cast<Nanoseconds>(left / facts.steps() / facts.slower_when_recorded())), rate_sentence(facts));
  finding.fix = {"float32",
                 "Use float32 where 7 digits are enough. Arrays of NumPy are float64 unless they are made otherwise.",
                 "- model = model.double()\n+ model = model.float()"};
  return {finding};
}

}  // namespace

Rule rules::float64_on_device() {
  return {{.title = "Numbers that GPUs are slow at",
           .looks_for = "Kernels whose operator gets tensors of float64 and none of other floating-point types.",
           .needs = "CUDA activities; shapes, to know the types, and for the roofline.",
           .cannot_do_without = {{Need::kDevice}},
           .saving = fmt::format(
               "The steps are replayed with products at {:.0f} % of the GPU's peak for float32 without TF32 ({:.0f} to "
               "{:.0f} % for the range) or, if that takes longer, at {:.0f} % of its bandwidth, and with all other "
               "kernels at half of their time, as they move half of the bytes. Products whose shapes or GPU are not "
               "known take half of their time.",
               100 * kReached, 100 * kLeastReached, 100 * kMostReached, 100 * kReachedBandwidth),
           .held = "A network of linear layers and tanh on an H200 was promised 16 % (3 to 26) and gained 19.",
           .fixes = {"float32"}},
          find};
}

}  // namespace telltale
