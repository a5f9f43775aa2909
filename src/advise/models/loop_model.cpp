#include "advise/models/loop_model.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "advise/models/host_cost.h"
#include "advise/patterns/device_work.h"
#include "advise/patterns/forward_stretch.h"

namespace telltale {
namespace {

// What one call for all parameters leaves of the host's time: it still goes through its lists. On a CPU it computes
// them one by one too, without Python: averages of 20 and 100 parameters took 0.47 to 0.62 of the loop.
constexpr float kHostLeftByLists = 0.1F, kHostLeftByListsOnCpu = 0.6F;
// oneDNN runs a whole LSTM for 0.01 to 0.25 of what its cells take in a loop, one by one.
constexpr float kLeftOfCellsOnCpu = 0.25F;
// Of a recurrent cell's products, those of the inputs become one for all time steps; its gates become part of the rest.
constexpr float kProductsLeftOfCells = 0.5F, kGatesLeftOfCells = 0.1F;

float host_left(const CallLoop& loop) {
  const float turn = 1.0F / static_cast<float>(loop.turns.size());
  return loop.over == LoopOver::kParameters ? std::max(turn, kHostLeftByLists) : turn;
}

float device_left(const Facts& facts, const CallLoop& loop, const DeviceCall* call) {
  const float turn = 1.0F / static_cast<float>(loop.turns.size());
  if (call == nullptr) return turn;
  if (loop.over == LoopOver::kCells)
    return std::max(turn, call->work == WorkClass::kMatmul ? kProductsLeftOfCells : kGatesLeftOfCells);
  return std::max(turn, filled_share(facts, *call));
}

// Without a device: what operators do with their data remains, but for cells; what they cost besides is paid once.
float left_on_cpu(const HostCost& cost, const CallLoop& loop, EventId event) {
  if (loop.over == LoopOver::kCells) return kLeftOfCellsOnCpu;
  const float overhead = loop.over == LoopOver::kParameters ? kHostLeftByListsOnCpu : host_left(loop);
  const float growing = cost.growing_share(event);
  return growing + (1 - growing) * overhead;
}

// Edits what a range of the host's events does.
class Shortening {
 public:
  explicit Shortening(const Facts& facts) : facts_(facts), edit_(facts.unobserved) {
    if (!facts.diagnosis.breakdown.has_device) cost_.emplace(facts);
  }

  void shorten(EventId first, EventId end, const CallLoop& loop) {
    const std::vector<DeviceCall>& calls = facts_.diagnosis.kernels.calls;
    for (EventId event = first; event < end; ++event) {
      edit_.scale_event(facts_.trace, event, cost_ ? left_on_cpu(*cost_, loop, event) : host_left(loop));
      for (const EventId work : facts_.launched.of(event)) {
        const auto call = std::ranges::lower_bound(calls, work, {}, &DeviceCall::event);
        const bool is_known = call != calls.end() && call->event == work;
        edit_.scale_event(facts_.trace, work, device_left(facts_, loop, is_known ? &*call : nullptr));
      }
    }
  }

  // What the backward pass does for no operator in particular, as far as the trace tells: sums of gradients, or all of
  // it. There are as many of these as the forward pass has calls, and they shrink as that does.
  void shorten_rest_of_backward(std::span<const CallLoop> loops) {
    const Trace& trace = facts_.trace;
    const float share = share_of_forward(loops);
    for (EventId event = 0; event < trace.events.size(); ++event) {
      if (is_on_device(trace.events.kind[event]) || facts_.phases[event] != Phase::kBackward) continue;
      const EventId cause = trace.events.cause[event];
      const bool has_forward =
          trace.events.kind[event] == Kind::kOperator && cause != kNoEvent && !is_on_device(trace.events.kind[cause]);
      if (has_forward || trace.name(event).contains("AccumulateGrad")) {
        event = subtree_end(trace, event) - 1;
        continue;
      }
      edit_.scale_event(trace, event, share);
      for (const EventId work : facts_.launched.of(event)) edit_.scale_event(trace, work, share);
    }
  }

  Edit take() { return std::move(edit_); }

 private:
  // What remains of the forward pass's operators.
  float share_of_forward(std::span<const CallLoop> loops) const {
    const Trace& trace = facts_.trace;
    std::vector<float> left(trace.events.size(), 1);
    for (const CallLoop& loop : loops) std::fill(left.begin() + loop.first, left.begin() + loop.end, host_left(loop));
    double before = 0, after = 0;
    for (EventId event = 0; event < trace.events.size(); ++event) {
      if (trace.events.kind[event] != Kind::kOperator || facts_.phases[event] != Phase::kForward) continue;
      ++before;
      after += static_cast<double>(left[event]);
    }
    return before > 0 ? static_cast<float>(after / before) : 1;
  }

  const Facts& facts_;
  std::optional<HostCost> cost_;  // without a device
  Edit edit_;
};

}  // namespace

Edit without_loops(const Facts& facts, std::span<const CallLoop> loops) {
  Shortening shortening(facts);
  std::vector<ForwardStretch> stretches;
  for (const CallLoop& loop : loops) {
    shortening.shorten(loop.first, loop.end, loop);
    stretches.push_back({loop.first, loop.end});
  }
  for (const BackwardCall& call : backward_calls_of(facts, stretches))
    shortening.shorten(call.op, subtree_end(facts.trace, call.op), loops[call.stretch]);
  shortening.shorten_rest_of_backward(loops);
  return shortening.take();
}

}  // namespace telltale
