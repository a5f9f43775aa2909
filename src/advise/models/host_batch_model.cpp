#include "advise/models/host_batch_model.h"

#include <algorithm>

#include "advise/models/host_cost.h"
#include "advise/patterns/call_loops.h"
#include "advise/patterns/forward_stretch.h"
#include "advise/patterns/host_calls.h"
#include "analysis/batch_size.h"

namespace telltale {
namespace {

// Sums of gradients have the size of parameters, whatever the batch.
bool is_of_parameters(std::string_view name) { return name == "torch::autograd::AccumulateGrad"; }

bool is_overhead(HostWork work) {
  return work == HostWork::kPython || work == HostWork::kOperators || work == HostWork::kUnknown;
}

}  // namespace

HostBatchModel::HostBatchModel(const Facts& facts) : facts_(facts), share_(facts.trace.events.size()) {
  find_shares();
  grown_step_ = step_at(1);
  while (growth_ < kMostGrowth) {
    const Nanoseconds next_step = step_at(2 * growth_);
    if (growth_ == 1) doubled_step_ = next_step;
    const double now = static_cast<double>(grown_step_) / growth_;
    const double doubled = static_cast<double>(next_step) / (2 * growth_);
    if (doubled > (1 - kLeastPercentOfDoubling / 100) * now) break;
    growth_ *= 2;
    grown_step_ = next_step;
  }
}

void HostBatchModel::find_shares() {
  const Trace& trace = facts_.trace;
  const HostCost& cost = facts_.host_cost();
  const std::vector<bool> is_sum = names_where(trace, is_of_parameters);
  std::vector<bool> moves_parameters(trace.events.size());
  for (EventId event = 0; event < trace.events.size(); ++event) {
    const EventId parent = trace.events.parent[event];
    // An optimizer's step may run a closure that is none of its own.
    const bool is_part = parent != kNoEvent && facts_.phases[parent] != Phase::kOptimizer && moves_parameters[parent];
    moves_parameters[event] = facts_.phases[event] == Phase::kOptimizer || is_sum[trace.events.name[event]] || is_part;
    if (is_on_device(trace.events.kind[event]) || moves_parameters[event]) continue;
    share_[event] = is_overhead(facts_.host_work[event]) ? cost.growing_share(event) : 1;
  }
  const auto grow_all = [&](EventId first, EventId end) {
    std::fill(share_.begin() + first, share_.begin() + end, 1.0F);
  };
  for (const EventId root : facts_.user_python()) grow_all(root, subtree_end(trace, root));
  for (const StretchedCall& stretched : facts_.stretched_calls())
    share_[stretched.call] = std::max(share_[stretched.call], static_cast<float>(stretched.share));
  std::vector<ForwardStretch> stretches;
  for (const CallLoop& loop : facts_.call_loops())
    if (loop.over == LoopOver::kRows || loop.over == LoopOver::kParts) stretches.push_back({loop.first, loop.end});
  for (const ForwardStretch& stretch : stretches) grow_all(stretch.first, stretch.end);
  for (const BackwardCall& call : backward_calls_of(facts_, stretches)) grow_all(call.op, subtree_end(trace, call.op));
}

Edit HostBatchModel::grown(int growth) const {
  Edit edit = facts_.unobserved;
  for (EventId event = 0; event < share_.size(); ++event)
    if (share_[event] > 0) edit.scale_event(facts_.trace, event, 1 + share_[event] * static_cast<float>(growth - 1));
  return edit;
}

Nanoseconds HostBatchModel::step_at(int growth) const { return facts_.step - facts_.saved_by(grown(growth)); }

double HostBatchModel::fixed_percent() const {
  const Nanoseconds growing = doubled_step_ - facts_.step;
  return 100 - facts_.percent_of_step(std::clamp<Nanoseconds>(growing, 0, facts_.step));
}

std::optional<std::int64_t> HostBatchModel::batch() const {
  return batch_size(facts_.trace, facts_.diagnosis.timing, facts_.phases);
}

std::vector<EventId> HostBatchModel::fixed_events() const {
  std::vector<EventId> fixed;
  for (EventId event = 0; event < share_.size(); ++event)
    if (share_[event] < 1 && !is_on_device(facts_.trace.events.kind[event])) fixed.push_back(event);
  return fixed;
}

}  // namespace telltale
