// Every step leaves memory behind, until there is none left.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advise/patterns/device_memory.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// 4231 → 4200: it is a guess.
double in_two_digits(double count) {
  const double grain = std::pow(10, std::max(0.0, std::floor(std::log10(std::max(count, 1.0))) - 1));
  return std::round(count / grain) * grain;
}

std::string until_full(const GrowingMemory& memory) {
  if (!memory.steps_to_end) return "";
  const double steps = in_two_digits(*memory.steps_to_end);
  if (steps == 0) return " The GPU's memory is full.";
  return fmt::format(" The GPU's memory will be full after about {}.", counted(steps, "more step"));
}

Fix fix_for(const Facts& facts) {
  if (facts.trains)
    return {"detach",
            "Something that outlives the step, such as a list or a running sum, holds a tensor with its whole graph: "
            "detach what you keep.",
            "- history.append(loss)\n+ history.append(loss.detach())"};
  return {"detach",
          "Something that outlives the request, such as a list or a cache without a limit, holds its tensors: compute "
          "in inference mode, keep copies on the host, and drop what has been answered.",
          "+ with torch.inference_mode():\n      y = model(x)\n- answers.append(y)\n+ answers.append(y.cpu())"};
}

std::vector<Finding> find(const Facts& facts) {
  const std::optional<GrowingMemory> memory = growing_memory(facts);
  if (!memory) return {};
  const EventId op = memory->survivor.op;
  Finding finding;
  finding.title = fmt::format("Every step leaves {} of GPU memory allocated", format_bytes(memory->bytes_per_step));
  finding.explanation =
      fmt::format("Even at its lowest, the memory in use grows by {} per step; most of it was {}never freed.{}",
                  format_bytes(memory->bytes_per_step),
                  op == kNoEvent ? "" : fmt::format("allocated by {} and ", facts.trace.name(op)), until_full(*memory));
  finding.confidence = facts.steps() > 3 ? Confidence::kHigh : Confidence::kMedium;
  if (op != kNoEvent) {
    finding.evidence = {op};
    finding.source = source_line(facts.trace, op);
  }
  finding.fix = fix_for(facts);
  return {finding};
}

}  // namespace

Rule rules::memory_leak() {
  return {{.title = "Memory that grows",
           .looks_for = fmt::format("The least memory in use in each step rises by {} MiB per step or more, and "
                                    "allocations of several steps that explain it are still there at the end.",
                                    kLeastMebibytesPerStep),
           .needs = "Memory events (profile_memory=True) of three steps or more; stacks for the source line.",
           .saving = "No time: the program ends when the memory does.",
           .held = "Predicts no time; found in metric_keeps_its_graph.",
           .fixes = {"detach"}},
          find};
}

}  // namespace telltale
