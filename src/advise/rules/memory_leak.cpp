// Every step leaves memory behind, until there is none left.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advise/patterns/growing_memory.h"
#include "advise/rule.h"
#include "base/amounts.h"
#include "trace/loader_facts.h"

namespace telltale {
namespace {

// 4231 → 4200: it is a guess.
double in_two_digits(double count) {
  const double grain = std::pow(10, std::max(0.0, std::floor(std::log10(std::max(count, 1.0))) - 1));
  return std::round(count / grain) * grain;
}

// What a sentence calls the memory, and whose it is.
struct Words {
  std::string_view memory, owner;
};
Words words_for(DeviceId device, bool has_device) {
  if (device != kHost) return {"GPU memory", "GPU's"};
  return has_device ? Words{"host memory", "host's"} : Words{"memory", "machine's"};
}

std::string until_full(std::optional<double> steps_to_end, std::string_view owner) {
  if (!steps_to_end) return "";
  const double steps = in_two_digits(*steps_to_end);
  if (steps == 0) return fmt::format(" The {} memory is full.", owner);
  return fmt::format(" The {} memory will be full after about {}.", owner, counted(steps, "more step"));
}

Fix fix_for(const Facts& facts, DeviceId device) {
  if (facts.trains)
    return {"detach",
            "Something that outlives the step, such as a list or a running sum, holds a tensor with its whole graph: "
            "detach what you keep, keep numbers (.item()) in place of tensors, or clear it.",
            "- history.append(loss)\n+ history.append(loss.detach())"};
  if (is_of_loader_worker(facts.trace))
    return {"detach",
            "Something of the dataset that outlives the batch, such as a list or a cache, holds its tensors, and each "
            "worker has its own: give a cache a limit, or keep nothing.",
            "- self.seen.append(sample)"};
  if (device == kHost)
    return {
        "detach",
        "Something that outlives the request, such as a list or a cache without a limit, holds its tensors: compute "
        "in inference mode, keep numbers (.item()) or small copies, and drop what has been answered.",
        "+ with torch.inference_mode():\n      y = model(x)\n- answers.append(y)\n+ "
        "answers.append(y.argmax(-1).tolist())"};
  return {"detach",
          "Something that outlives the request, such as a list or a cache without a limit, holds its tensors: compute "
          "in inference mode, keep copies on the host, and drop what has been answered.",
          "+ with torch.inference_mode():\n      y = model(x)\n- answers.append(y)\n+ answers.append(y.cpu())"};
}

// The largest of them, by name; not those that hardly matter beside the growth.
std::string makers_of(const Facts& facts, const GrowingMemory& memory) {
  constexpr std::size_t kMostNamed = 3;
  constexpr double kLeastShare = 0.1;
  std::vector<std::string> names;
  for (const Survivor& survivor : memory.survivors) {
    const bool matters = static_cast<double>(survivor.bytes) >= kLeastShare * memory.bytes_per_step;
    if (survivor.op != kNoEvent && matters && names.size() < kMostNamed)
      names.emplace_back(facts.trace.name(survivor.op));
  }
  return listed(names);
}

Finding leak(const Facts& facts, const GrowingMemory& memory) {
  const Words words = words_for(memory.device, facts.diagnosis.breakdown.has_device);
  Finding finding;
  finding.title =
      fmt::format("Every step leaves {} of {} allocated", format_bytes(memory.bytes_per_step), words.memory);
  const std::string makers = makers_of(facts, memory);
  finding.explanation =
      fmt::format("Even at its lowest, the memory in use grows by {} per step; most of it was {}never freed.{}",
                  format_bytes(memory.bytes_per_step), makers.empty() ? "" : "allocated by " + makers + " and ",
                  until_full(memory.steps_to_end, words.owner));
  const bool are_enough = memory.source || facts.steps() > 3;  // lines are told of with kLeastStepsOfLeak alone
  finding.confidence = are_enough ? Confidence::kHigh : Confidence::kMedium;
  finding.source = memory.source;
  for (const Survivor& survivor : memory.survivors) {
    if (survivor.op == kNoEvent) continue;
    finding.evidence.push_back(survivor.op);
    if (!finding.source) finding.source = source_line(facts.trace, survivor.op);
  }
  finding.fix = fix_for(facts, memory.device);
  return finding;
}

// The kernel counts more than tensors, such as files that are mapped, and does not say who takes it.
Finding hint(const Facts& facts, const GrowingProcess& process) {
  const Words words = words_for(kHost, facts.diagnosis.breakdown.has_device);
  Finding finding;
  finding.title = fmt::format("The process grows by {} per step", format_bytes(process.bytes_per_step));
  finding.explanation =
      fmt::format("Its resident memory rises steadily, to {} at the end.{} What takes it was not recorded.",
                  format_bytes(process.bytes), until_full(process.steps_to_end, words.owner));
  finding.confidence = Confidence::kLow;
  finding.fix = {
      "detach",
      "Record with --memory to learn which line allocates what stays. Often a list, a cache or a running sum "
      "keeps tensors.",
      "telltale record --memory -- …"};
  return finding;
}

std::vector<Finding> find(const Facts& facts) {
  if (const auto memory = growing_memory(facts)) return {leak(facts, *memory)};
  const bool saw_host = facts.diagnosis.memory && facts.diagnosis.memory->device == kHost;
  if (saw_host) return {};
  if (const auto process = growing_process(facts)) return {hint(facts, *process)};
  return {};
}

}  // namespace

Rule rules::memory_leak() {
  return {
      {.title = "Memory that grows",
       .looks_for = fmt::format(
           "The least memory in use in each step rises by {} MiB per step or more or, over {} steps or more, by {} "
           "KiB or more if the memory would be full within {} hours; and allocations of early and late steps that "
           "explain it are still there at the end. It is the GPU's memory or, in a program without one, the host's. "
           "Without memory events: the resident memory of the process rises from each quarter of the recording to "
           "the next, by {} MiB in all or more.",
           kLeastMebibytesPerStep, kStepsThatTell, kLeastKibibytesPerManySteps, kMostHoursToEnd,
           kLeastMebibytesOfProcess),
       .needs = "Memory events (record --memory, profile_memory=True) of three steps or more; stacks for the source "
                "line. The counter of resident memory for a hint.",
       .cannot_do_without = {{Need::kMemory}, {Need::kSteps}},
       .saving =
           "No time: the program ends when the memory does. In telltale memory, bytes: how much lower the peak is "
           "when what leaking lines made goes with its step.",
       .held = "Predicts no time; found in metric_keeps_its_graph. Bytes, predicted and measured, in MiB: 120 and 120, "
               "in a program made for it on an H200; 58 and 57, 12 and 14 on a CPU.",
       .fixes = {"detach"},
       .is_about_memory = true},
      find};
}

}  // namespace telltale
