// A large kernel that is far from what the device could do, for no reason that another rule knows.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "advise/models/batch_model.h"
#include "advise/models/precision_model.h"
#include "advise/patterns/device_work.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// Of the step; smaller ones are not worth the search for a better kernel.
constexpr double kLeastPercent = 5;
// Of its roofline: kernels below it are far from it, and good ones reach somewhat more.
constexpr double kFarBelow = 0.6, kReachable = 0.65;
constexpr double kUncertainty = 0.6;

// What multiplies or reduces. Kernels that only move memory are better fused than tuned: that is torch.compile's.
bool may_be_tuned(const DeviceCall& call) { return multiplies(call) || call.work == WorkClass::kReduction; }

// Work that a larger batch hardly prolongs is underfilled_gpu's. What is in float64 has peaks of its own, of which one
// is known: other units compute it at half of that.
bool has_other_reason(const Facts& facts, const BatchGrowth& growth, const DeviceCall& call) {
  return multiplies_in_32_bits(call) || computes_in_float64(facts, call) || is_misaligned_product(facts, call) ||
         growth.leaves_room(call);
}

// Calls of one kernel.
struct Tuned {
  std::vector<EventId> calls;
  double taken = 0, least = 0;  // nanoseconds, in all steps
  double lost() const { return taken - least / kReachable; }
};

std::optional<Tuned> worst_kernel(const Facts& facts) {
  const BatchGrowth growth(facts);
  std::unordered_map<StringId, Tuned> by_name;
  for (const DeviceCall& call : facts.diagnosis.kernels.calls) {
    if (!call.roofline_seconds || !may_be_tuned(call) || has_other_reason(facts, growth, call)) continue;
    Tuned& kernel = by_name[facts.trace.events.name[call.event]];
    kernel.calls.push_back(call.event);
    kernel.taken += static_cast<double>(facts.trace.events.duration[call.event]);
    kernel.least += *call.roofline_seconds * 1e9;
  }
  std::optional<Tuned> worst;
  for (auto& [name, kernel] : by_name) {
    const double percent = facts.percent_of_step(static_cast<Nanoseconds>(kernel.taken / facts.steps()));
    if (percent < kLeastPercent || kernel.least >= kFarBelow * kernel.taken) continue;
    if (!worst || kernel.lost() > worst->lost()) worst = std::move(kernel);
  }
  return worst;
}

// "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, …>(…)" without all that is not its own name.
std::string own_name(std::string_view kernel) {
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  std::string name(kernel);
  for (std::size_t at = name.find(kUnnamed); at != std::string::npos; at = name.find(kUnnamed))
    name.erase(at, kUnnamed.size());
  name.resize(std::min(name.find_first_of("<("), name.size()));
  const std::size_t last = name.find_last_of(": ");
  return last == std::string::npos ? name : name.substr(last + 1);
}

std::string_view profiler_of_kernels(const Facts& facts) {
  const auto& peaks = facts.diagnosis.kernels.peaks;
  return peaks && is_amd(*peaks) ? "rocprof-compute profile --name step --kernel {} -- python program.py"
                                 : "ncu --kernel-name {} python program.py";
}

std::vector<Finding> find(const Facts& facts) {
  const std::optional<Tuned> kernel = worst_kernel(facts);
  if (!kernel) return {};
  Edit edit = facts.unobserved;
  CallSum calls(facts);
  for (const EventId call : kernel->calls) {
    calls.add(call);
    edit.scale_event(facts.trace, call, static_cast<float>(kernel->least / kReachable / kernel->taken));
  }
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};

  const std::string name = own_name(facts.trace.name(kernel->calls.front()));
  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(edit);
  finding.reach = changed_by(facts, edit);
  finding.confidence = Confidence::kLow;
  finding.evidence = calls.longest();
  finding.source = source_line(facts.trace, finding.evidence.front());
  finding.title = "A large kernel is far from what the GPU can do";
  finding.explanation =
      fmt::format("{} takes {} and reaches {} of the speed that its operations and bytes allow; good kernels reach {}.",
                  name, time_and_share(facts, calls.time_per_step()),
                  format_percent(100 * kernel->least / kernel->taken), format_percent(100 * kReachable));
  finding.fix = {"other",
                 "Look at the kernel itself: other shapes, another algorithm or another library may do better.",
                 fmt::format(fmt::runtime(profiler_of_kernels(facts)), name)};
  return {finding};
}

}  // namespace

Rule rules::low_roofline() {
  return {{.title = "A kernel far from the roofline",
           .looks_for = fmt::format(
               "Of the kernels that multiply or reduce, take {} % of the step or more and stay below {:.0f} % of their "
               "roofline, the one that loses the most time, unless precision, odd widths or a small batch explain it.",
               kLeastPercent, 100 * kFarBelow),
           .needs = "CPU and CUDA activities and shapes, on a GPU whose peaks are known.",
           .cannot_do_without = {{Need::kDevice}, {Need::kShapes}},
           .saving = fmt::format("The steps are replayed with the kernel at {:.0f} % of its roofline; the trace does "
                                 "not tell whether such a kernel exists.",
                                 100 * kReachable),
           .held = "Not measured: the fix is another kernel or another shape, which none of our programs tried.",
           .fixes = {"other"}},
          find};
}

}  // namespace telltale
