// Every step asks the driver for device memory anew.
#include <fmt/format.h>

#include <algorithm>

#include "advise/patterns/device_memory.h"
#include "advise/patterns/growing_memory.h"
#include "advise/rule.h"
#include "analysis/device_maker.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// Measured twice; how much slower a recorder makes these calls is known from one program.
constexpr double kUncertainty = 0.4;

bool calls_empty_cache(const Trace& trace) {
  const std::vector<bool> is_it = names_where(trace, [](std::string_view name) {
    return name.find("empty_cache") != std::string_view::npos || name.find("emptyCache") != std::string_view::npos;
  });
  return std::ranges::find(is_it, true) != is_it.end();
}

Finding cache_emptied(const Facts& facts, const AllocatorCalls& calls) {
  Finding finding;
  finding.title = "Every step empties the memory cache and fills it again";
  finding.confidence = calls_empty_cache(facts.trace) ? Confidence::kHigh : Confidence::kLow;
  finding.evidence = calls.frees;
  finding.fix = {"keep_cache",
                 "Remove torch.cuda.empty_cache() from the loop: torch reuses the memory that it keeps. If the GPU's "
                 "memory is full and torch frees it itself, use a smaller batch.",
                 "- torch.cuda.empty_cache()"};
  return finding;
}

Finding shapes_that_change(const AllocatorCalls& calls) {
  Finding finding;
  finding.title = "Every step asks the driver for more GPU memory";
  finding.confidence = Confidence::kLow;
  finding.evidence = calls.allocations;
  finding.fix = {"stable_shapes",
                 "Tensors whose sizes keep changing do not fit into memory that was freed. Round lengths up to a few "
                 "that recur, or set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.",
                 "+ length = -(-length // 64) * 64  # pad to a multiple of 64"};
  return finding;
}

std::vector<Finding> find(const Facts& facts) {
  const AllocatorCalls calls = allocator_calls(facts);
  // What grows without end needs new memory too, but has another cure.
  const bool is_churn = calls.frees_recur || (calls.allocations_recur && !growing_memory(facts));
  if (!is_churn) return {};
  const Nanoseconds likely = saved_without(facts, calls);
  if (likely <= 0) return {};

  Finding finding = calls.frees_recur ? cache_emptied(facts, calls) : shapes_that_change(calls);
  std::ranges::stable_sort(finding.evidence, std::ranges::greater{},
                           [&](EventId call) { return facts.trace.events.duration[call]; });
  Nanoseconds taken = 0;
  for (const EventId call : calls.allocations) taken += facts.trace.events.duration[call];
  for (const EventId call : calls.frees) taken += facts.trace.events.duration[call];
  std::vector<std::string> made;
  const auto add = [&](std::string_view name, const std::vector<EventId>& of_one_kind) {
    if (!of_one_kind.empty())
      made.push_back(fmt::format("{} {}", name, how_often(static_cast<double>(of_one_kind.size()) / facts.steps())));
  };
  const bool is_hip = maker_of_devices(facts.trace) == DeviceMaker::kAmd;
  add(is_hip ? "hipMalloc" : "cudaMalloc", calls.allocations);
  add(is_hip ? "hipFree" : "cudaFree", calls.frees);
  finding.explanation = fmt::format("A step calls {}, which takes {} as recorded.", listed(made),
                                    format_time(static_cast<Nanoseconds>(static_cast<double>(taken) / facts.steps())));
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(without_calls(facts, calls));
  finding.reach = calls.allocations;
  finding.reach.insert(finding.reach.end(), calls.frees.begin(), calls.frees.end());
  finding.source = source_line(facts.trace, finding.evidence.front());
  return {finding};
}

}  // namespace

Rule rules::allocator_churn() {
  return {{.title = "GPU memory allocated anew in every step",
           .looks_for = "Calls to cudaMalloc or cudaFree in the last step and in more than half of all steps.",
           .needs = "CUDA activities; stacks for the source line.",
           .cannot_do_without = {{Need::kDevice}},
           .saving = fmt::format("The steps are replayed without the frees and without the allocations. Of what the "
                                 "allocations save, {:.0f} % counts: recording makes them slower. In telltale memory, "
                                 "bytes: how much less is reserved at most in a simulation without empty_cache(), or "
                                 "with segments that grow; often nothing.",
                                 100 * kUnobservedShareOfAllocation),
           .held = "Predicted and measured savings, in percent of the step: 9 and 15 (empty_cache_every_step), 11 and "
                   "12 (longer_every_step).",
           .fixes = {"keep_cache", "stable_shapes"},
           .is_about_memory = true},
          find};
}

}  // namespace telltale
