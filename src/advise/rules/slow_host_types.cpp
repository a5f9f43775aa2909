// Types of numbers that CPUs are slow at: float16, for which most have no instructions, and float64.
#include <fmt/format.h>

#include <string>

#include "advise/models/host_cost.h"
#include "advise/patterns/device_work.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// What float32 leaves of work on float64: on an EPYC 9004 and a Xeon of 2023, products took 1.7 to 3.7 times as long in
// float64 (half of them 1.9 to 2.3), elementwise operators and norms of 100,000 elements and more 1.2 to 4.6 (half of
// them 1.9 to 2.4), gelu up to 8.6, and convolutions 2.2 to 5.3.
constexpr float kLeftOfDouble = 0.47F, kLeftOfConvolution = 0.3F;
// A product of float16 that takes so many times as long as float32 does on any CPU was computed without instructions
// for it: on the EPYC, products took 19 to 190 times as long as in float32, on the Xeon, which has them, 0.6 to 2.2.
constexpr double kTellingTimes = 3;
constexpr double kUncertainty = 0.25;

struct SlowOperators {
  Edit edit;
  CallSum calls;
};

SlowOperators of_half(const Facts& facts, const HostCost& cost) {
  SlowOperators slow{facts.unobserved, CallSum(facts)};
  for (const EventId op : cost.operators()) {
    const HostOperator& known = cost.known(op);
    if (!known.work.flops || known.type != NumberType::kHalf) continue;
    const auto now = static_cast<double>(cost.own_time(op));
    const double slowest = *known.work.flops / (HostCost::kFlopsPerSecond * cost.threads()) * 1e9 +
                           static_cast<double>(HostCost::kMostFixed);
    if (now < kTellingTimes * slowest) continue;
    const double then = host_times(*known.work.flops, 2 * known.work.bytes.value_or(0), cost.threads()).typical;
    slow.edit.scale_event(facts.trace, op, static_cast<float>(std::min(1.0, then / now)));
    slow.calls.add(op, cost.own_time(op));
  }
  return slow;
}

SlowOperators of_double(const Facts& facts, const HostCost& cost) {
  SlowOperators slow{facts.unobserved, CallSum(facts)};
  for (const EventId op : cost.operators()) {
    const float growing = cost.growing_share(op);
    if (growing <= 0 || cost.known(op).type != NumberType::kDouble) continue;
    const float left = is_convolution(facts.trace.name(op)) ? kLeftOfConvolution : kLeftOfDouble;
    slow.edit.scale_event(facts.trace, op, 1 - growing * (1 - left));
    slow.calls.add(op, cost.own_time(op));
  }
  return slow;
}

std::optional<Finding> finding_about(const Facts& facts, const SlowOperators& slow) {
  if (slow.calls.empty()) return {};
  const Nanoseconds likely = facts.saved_by(slow.edit);
  if (likely <= 0) return {};
  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(slow.edit);
  finding.reach = changed_by(facts, slow.edit);
  finding.evidence = slow.calls.longest();
  finding.source = source_line(facts.trace, finding.evidence.front());
  return finding;
}

std::vector<Finding> find(const Facts& facts) {
  if (facts.diagnosis.breakdown.has_device) return {};
  const HostCost& cost = facts.host_cost();
  std::vector<Finding> findings;
  const SlowOperators half = of_half(facts, cost);
  if (std::optional<Finding> finding = finding_about(facts, half)) {
    finding->confidence = Confidence::kHigh;
    finding->title = "This CPU is slow at float16";
    finding->explanation =
        fmt::format("Products and convolutions of float16 take {}, many times as long as in float32.",
                    time_and_share(facts, half.calls.time_per_step()));
    finding->fix = {"float32", "Compute in float32 on this CPU.", "- model = model.half()\n+ model = model.float()"};
    findings.push_back(*std::move(finding));
  }
  const SlowOperators wide = of_double(facts, cost);
  if (std::optional<Finding> finding = finding_about(facts, wide)) {
    finding->title = "The step computes in float64";
    finding->explanation = fmt::format(
        "Operators on float64 take {}: they have twice as many bytes to move as those on float32, and compute half as "
        "many numbers at once.",
        time_and_share(facts, wide.calls.time_per_step()));
    finding->fix = {
        "float32", "Use float32 where 7 digits are enough. Arrays of NumPy are float64 unless they are made otherwise.",
        "- x = torch.from_numpy(array)\n+ x = torch.from_numpy(array).float()"};
    findings.push_back(*std::move(finding));
  }
  return findings;
}

}  // namespace

Rule rules::slow_host_types() {
  return {
      {.title = "Numbers that CPUs are slow at",
       .looks_for = fmt::format("Without a GPU, products and convolutions of float16 that take at least {} times as "
                                "long as float32 would on a slow CPU, and operators on float64.",
                                kTellingTimes),
       .needs = "Shapes, where there is no GPU.",
       .cannot_do_without = {{Need::kShapes, Need::kDevice}},
       .saving = fmt::format(
           "The steps are replayed with products of float16 at {:.0f} billion operations per second and thread, "
           "and with {:.0f} % of what operators do with float64, or {:.0f} % of convolutions.",
           HostTimes::kTypicalFlops / 1e9, 100 * kLeftOfDouble, 100 * kLeftOfConvolution),
       .held =
           "Fitted on single operators. A network of linear layers and tanh in float64 was promised 52 % and gained "
           "54. Others gained 38 to 53 % (linear layers, encoders), 39 and 77 (convolutional) and 77 (an LSTM).",
       .fixes = {"float32"}},
      find};
}

}  // namespace telltale
