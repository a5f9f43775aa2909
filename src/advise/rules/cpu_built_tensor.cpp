// Noise, masks and constants that the host makes and copies to the device, which could make them itself.
#include <fmt/format.h>

#include <algorithm>

#include "advise/host_built.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// What an operator costs the host that only launches a kernel.
constexpr float kLaunchingOperator = 10'000;
// Measured once; the steps of that program varied by 38 %.
constexpr double kUncertainty = 0.3;

// On the device a kernel takes the place of what the host did, and no copy is needed.
void build_on_device(const Facts& facts, const HostBuilt& tensor, Edit& edit) {
  for (const EventId op : tensor.made_by) {
    const auto taken = static_cast<float>(std::max<Nanoseconds>(facts.trace.events.duration[op], 1));
    edit.scale_subtree(facts.trace, facts.launched, op, std::min(1.0F, kLaunchingOperator / taken), 1);
  }
  edit.scale_subtree(facts.trace, facts.launched, tensor.copied_by, 0, 0);
}

std::vector<Finding> find(const Facts& facts) {
  std::vector<HostBuilt> tensors = host_built_tensors(facts);
  if (tensors.empty()) return {};
  const auto host_time = [&](const HostBuilt& tensor) {
    Nanoseconds time = 0;
    for (const EventId op : tensor.made_by) time += facts.trace.events.duration[op];
    return time;
  };
  std::ranges::stable_sort(tensors, std::ranges::greater{}, host_time);
  Edit edit = facts.unobserved;
  Nanoseconds making = 0;
  Finding finding;
  for (const HostBuilt& tensor : tensors) {
    build_on_device(facts, tensor, edit);
    making += host_time(tensor);
    finding.evidence.push_back(tensor.made_by.front());
    finding.evidence.push_back(tensor.copy);
  }
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};

  finding.title = "A tensor is made on the CPU, then copied to the GPU";
  finding.explanation =
      fmt::format("The CPU takes {} of a recorded step to make what is then copied to the GPU, mostly in {}.",
                  format_time(static_cast<Nanoseconds>(static_cast<double>(making) / facts.steps())),
                  facts.trace.name(tensors.front().made_by.front()));
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.confidence = facts.trace.recorded.shapes ? Confidence::kHigh : Confidence::kMedium;
  finding.source = source_line(facts.trace, tensors.front().made_by.front());
  finding.fix = {"build_on_device", "Create the tensor where it is needed: pass device= to the function that makes it.",
                 "- noise = torch.randn(x.shape).to(device)\n+ noise = torch.randn(x.shape, device=device)"};
  return {finding};
}

}  // namespace

extern const Rule kCpuBuiltTensorRule;
const Rule kCpuBuiltTensorRule = {
    {"cpu_built_tensor", "Tensors made on the CPU",
     "Operators that fill a tensor on the CPU (randn, zeros, full, arange and the like) whose result is then copied to "
     "the device.",
     "CPU and CUDA activities; shapes, to know for sure which tensor is copied; stacks for the line.",
     "The steps are replayed without the copies, and with operators that launch a kernel instead of filling.",
     "Promised and gained, in percent of the step: 73 and 70 (noise_made_on_cpu)."},
    find};

}  // namespace telltale
