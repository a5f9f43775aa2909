// Products and convolutions in float32, on a CPU that has instructions for bfloat16.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advise/models/host_cost.h"
#include "advise/patterns/device_work.h"
#include "advise/rule.h"
#include "base/amounts.h"
#include "trace/recording_facts.h"

namespace telltale {
namespace {

// What bfloat16 leaves of products and convolutions that work for 100 µs and more. On one thread of an EPYC 9004
// (AVX-512 BF16), products of 16 rows and more took 0.28 to 0.58 times as long as in float32 (half of them 0.43 to
// 0.48), convolutions 0.37 to 0.86 (half of them 0.60 to 0.68); on four of a Xeon of 2023 (AMX) 0.26 to 0.62 (0.34 and
// 0.35) and 0.33 to 1.64 (0.42 to 0.43). Shorter ones took up to 2.6 times as long.
constexpr double kLeftOfProducts = 0.46, kLeftOfConvolutions = 0.61;
constexpr double kLeastWork = 100'000;
// Nor is what takes long for few operations slow at multiplying: 8 million take 50 to 130 µs on one thread.
constexpr double kLeastFlops = 8e6;
// Autocast turns what it multiplies into bfloat16, 2 to 7 billion elements a second and thread. What needs a block of
// 32 MiB and more is mapped from the kernel each time, page by page: 0.5 billion.
constexpr double kCastPerSecond = 2e9, kMappedCastPerSecond = 0.5e9;
constexpr double kMapped = 32 << 20;
// Autocast also changes what elementwise operators take, norms and softmax included: 0.6 to 1.9 times as long as in
// float32 (half of them 1.0 to 1.5; tanh 5 times on the Xeon). A saving below this share of the step may be lost on
// them.
constexpr double kLeastPercent = 15;
constexpr double kUncertainty = 0.35;

bool multiplies(const Facts& facts, EventId op, const HostOperator& known) {
  const std::string_view name = facts.trace.name(op);
  return known.type == NumberType::kFloat && name.find("attention") == std::string_view::npos &&
         (known.work.flops ? *known.work.flops >= kLeastFlops : is_convolution(name));
}

// In nanoseconds, for what goes in and comes out.
double cast_time(const HostOperator& known, double threads) {
  const double elements = known.work.bytes.value_or(0) / sizeof(float);
  const bool is_mapped = 2 * static_cast<double>(known.largest) >= kMapped;
  return elements / (is_mapped ? kMappedCastPerSecond : kCastPerSecond * threads) * 1e9;
}

Fix fix_for(const Facts& facts) {
  if (facts.trains)
    return {"bf16", "Run the forward pass and the loss under autocast in bfloat16; the weights stay in float32.",
            "- loss = loss_of(model(x), y)\n+ with torch.autocast(\"cpu\", torch.bfloat16):\n"
            "+     loss = loss_of(model(x), y)"};
  return {"bf16",
          "Run the model under autocast in bfloat16, or turn its weights into bfloat16 once, if its answers stay good.",
          "- y = model(x)\n+ with torch.autocast(\"cpu\", torch.bfloat16):\n+     y = model(x)"};
}

std::vector<Finding> find(const Facts& facts) {
  if (facts.diagnosis.breakdown.has_device || session_number(facts.trace, "bf16_instructions") != 1) return {};
  const HostCost& cost = facts.host_cost();
  Edit edit = facts.unobserved;
  CallSum sped_up(facts);
  for (const EventId op : cost.operators()) {
    const HostOperator& known = cost.known(op);
    if (!multiplies(facts, op, known)) continue;
    const auto now = static_cast<double>(cost.own_time(op));
    const double growing = now * static_cast<double>(cost.growing_share(op));
    if (growing * cost.threads() < kLeastWork) continue;
    const double left = is_convolution(facts.trace.name(op)) ? kLeftOfConvolutions : kLeftOfProducts;
    const double saved = growing * (1 - left) - cast_time(known, cost.threads());
    if (saved <= 0) continue;
    edit.scale_event(facts.trace, op, static_cast<float>(1 - saved / now));
    sped_up.add(op, cost.own_time(op));
  }
  const Nanoseconds likely = facts.saved_by(edit);
  if (sped_up.empty() || facts.percent_of_step(likely) < kLeastPercent) return {};

  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(edit);
  finding.reach = changed_by(facts, edit);
  finding.evidence = sped_up.longest();
  finding.source = source_line(facts.trace, finding.evidence.front());
  finding.title = "Matrix products and convolutions run in float32";
  finding.explanation =
      fmt::format("They take {}. This CPU has instructions that multiply bfloat16 about twice as fast.",
                  time_and_share(facts, sped_up.time_per_step()));
  finding.fix = fix_for(facts);
  return {finding};
}

}  // namespace

Rule rules::host_bf16() {
  return {
      {.title = "Matrix products and convolutions in float32 on a CPU",
       .looks_for = fmt::format("Without a GPU, matrix products and convolutions in float32 that work for {} and more, "
                                "on a CPU with instructions for bfloat16 (AVX-512 BF16, AMX, or Arm's), where these "
                                "would save {} % of the step.",
                                format_time(static_cast<Nanoseconds>(kLeastWork)), kLeastPercent),
       .needs = "Shapes, where there is no GPU, in a recording by telltale record: it says what the CPU has.",
       .cannot_do_without = {{Need::kShapes, Need::kDevice}},
       .saving = fmt::format(
           "The steps are replayed with {:.0f} % of the time of products, {:.0f} % of convolutions, and the time to "
           "turn their tensors into bfloat16 added.",
           100 * kLeftOfProducts, 100 * kLeftOfConvolutions),
       .held = "Fitted on single operators of an EPYC 9004. On the Xeon, three networks that trained (linear layers, "
               "convolutions, an encoder) were promised 31, 23 and 9 % and gained 34, 43 and 5; two that only inferred "
               "(linear layers, an encoder) 33 and 3 %, and gained 52 and 26. The promises of 9 and 3 are not made any "
               "more.",
       .fixes = {"bf16"}},
      find};
}

}  // namespace telltale
