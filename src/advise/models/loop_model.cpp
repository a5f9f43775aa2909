#include "advise/models/loop_model.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "advise/models/host_cost.h"
#include "advise/patterns/device_work.h"
#include "advise/patterns/forward_stretch.h"
#include "advise/patterns/time_between_nodes.h"

namespace telltale {
namespace {

// What one call for all parameters leaves of the host's time: it still goes through its lists. On a CPU it computes
// them one by one too, without Python: for 60 to 144 small parameters, lerp_ took 0.35 to 0.62 of the loop, mul_ behind
// add_ 0.54 to 0.58, a norm with mul_ 0.57, mul_ alone 0.67 to 0.70.
constexpr float kHostLeftByLists = 0.1F, kHostLeftByListsOnCpu = 0.55F;
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

// Of what operators cost besides what they do with their data, and of the Python between them.
float overhead_left_on_cpu(const CallLoop& loop) {
  if (loop.over == LoopOver::kCells) return kLeftOfCellsOnCpu;
  return loop.over == LoopOver::kParameters ? loop.calls_left * kHostLeftByListsOnCpu : host_left(loop);
}

// Without a device: what operators do with their data remains, but for cells; what they cost besides is paid once.
float left_on_cpu(const HostCost& cost, const CallLoop& loop, EventId event) {
  const float overhead = overhead_left_on_cpu(loop);
  if (loop.over == LoopOver::kCells) return overhead;
  const float growing = cost.growing_share(event);
  return growing * (loop.over == LoopOver::kParameters ? loop.calls_left : 1) + (1 - growing) * overhead;
}

bool takes_a_part(std::string_view op) {
  return op == "aten::select" || op == "aten::slice" || op == "aten::narrow" || op == "aten::index" ||
         op == "aten::index_select";
}

bool collects_parts(std::string_view op) { return op == "aten::stack" || op == "aten::cat"; }

// A loop over parts with the operator behind it that puts its results together.
CallLoop with_collecting(const Trace& trace, CallLoop loop) {
  if (loop.over != LoopOver::kRows && loop.over != LoopOver::kParts) return loop;
  const Track& track = trace.tracks[trace.events.track[loop.first]];
  EventId behind = loop.end;
  while (behind < track.first_event + track.event_count && trace.events.kind[behind] != Kind::kOperator) ++behind;
  if (behind < track.first_event + track.event_count && collects_parts(trace.name(behind)))
    loop.end = subtree_end(trace, behind);
  return loop;
}

// Edits what a range of the host's events does.
class Shortening {
 public:
  explicit Shortening(const Facts& facts)
      : facts_(facts),
        cost_(facts.diagnosis.breakdown.has_device ? nullptr : &facts.host_cost()),
        is_done_(facts.trace.events.size()),
        edit_(facts.unobserved) {}

  void shorten(EventId first, EventId end, const CallLoop& loop) {
    const std::vector<DeviceCall>& calls = facts_.diagnosis.kernels.calls;
    for (EventId event = first; event < end; ++event) {
      edit_.scale_event(facts_.trace, event, cost_ != nullptr ? left_on_cpu(*cost_, loop, event) : host_left(loop));
      for (const EventId work : facts_.launched.of(event)) {
        const auto call = std::ranges::lower_bound(calls, work, {}, &DeviceCall::event);
        const bool is_known = call != calls.end() && call->event == work;
        edit_.scale_event(facts_.trace, work, device_left(facts_, loop, is_known ? &*call : nullptr));
      }
    }
  }

  // The gradient of a part is as large as the tensor that it was taken from, and added to those of all other parts;
  // where all are taken at once, there is one.
  void shorten_gradients_of_parts(EventId op, const CallLoop& loop) {
    const EventId around = facts_.trace.events.parent[op];
    const bool is_by_engine = around != kNoEvent && facts_.trace.name(around).starts_with(kEngineCall);
    const EventId first = is_by_engine ? around : op, end = subtree_end(facts_.trace, first);
    const float turn = 1.0F / static_cast<float>(loop.turns.size());
    edit_.scale_subtree(facts_.trace, facts_.launched, first, turn, turn);
    std::fill(is_done_.begin() + first, is_done_.begin() + end, true);
  }

  // What the functions around loops do themselves from one call to the next, and what passes between nodes of the
  // backward pass, which is shown as that of whoever waits for it and goes as the node behind it does. After all else,
  // which says what remains of nodes.
  void shorten_between_calls(std::span<const CallLoop> loops) {
    const Trace& trace = facts_.trace;
    std::vector<TimeBetween> between = time_between_nodes(facts_, edit_);
    for (EventId event = 0; event < between.size(); ++event)
      if (facts_.phases[event] == Phase::kBackward) between[event].gone = 0;  // shortened as a whole
    for (const CallLoop& loop : loops) {
      const EventId around = trace.events.parent[loop.first];
      if (around == kNoEvent) continue;
      Nanoseconds end = trace.events.start[loop.first], called = 0;
      for (EventId call = loop.first; call < loop.end; ++call) {
        if (trace.events.parent[call] != around) continue;
        called += trace.events.duration[call];
        end = std::max(end, trace.events.end(call));
      }
      const float left = cost_ != nullptr ? overhead_left_on_cpu(loop) : host_left(loop);
      const Nanoseconds own = end - trace.events.start[loop.first] - called;
      between[around].gone += static_cast<double>(own) * static_cast<double>(1 - left);
    }
    shorten_by(facts_, between, edit_);
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
      if (is_done_[event]) continue;
      edit_.scale_event(trace, event, share);
      for (const EventId work : facts_.launched.of(event)) edit_.scale_event(trace, work, share);
    }
    shorten_engine(share);
  }

  Edit take() { return std::move(edit_); }

 private:
  // On a CPU, autograd's engine goes from node to node within the call of backward(), whose own time that is.
  void shorten_engine(float share) {
    const Trace& trace = facts_.trace;
    std::set<EventId> around;
    for (EventId event = 0; event < trace.events.size(); ++event) {
      const EventId parent = trace.events.parent[event];
      if (parent == kNoEvent || trace.events.kind[parent] == Kind::kOperator) continue;
      if (facts_.phases[parent] != Phase::kBackward && trace.name(event).starts_with(kEngineCall))
        around.insert(parent);
    }
    for (const EventId call : around) edit_.scale_event(trace, call, share);
  }

  // What remains of the forward pass's operators in the steps; loops are looked for nowhere else.
  float share_of_forward(std::span<const CallLoop> loops) const {
    const Trace& trace = facts_.trace;
    std::vector<float> left(trace.events.size(), 1);
    for (const CallLoop& loop : loops) std::fill(left.begin() + loop.first, left.begin() + loop.end, host_left(loop));
    double before = 0, after = 0;
    for (EventId event = 0; event < trace.events.size(); ++event) {
      if (trace.events.kind[event] != Kind::kOperator || facts_.phases[event] != Phase::kForward ||
          !facts_.is_in_steps(event))
        continue;
      ++before;
      after += static_cast<double>(left[event]);
    }
    return before > 0 ? static_cast<float>(after / before) : 1;
  }

  const Facts& facts_;
  const HostCost* cost_;       // null with a device
  std::vector<bool> is_done_;  // by event: of the backward pass
  Edit edit_;
};

}  // namespace

Edit without_loops(const Facts& facts, std::span<const CallLoop> loops) {
  Shortening shortening(facts);
  std::vector<CallLoop> whole;  // loops with what puts their results together
  std::vector<ForwardStretch> stretches;
  for (const CallLoop& loop : loops) {
    whole.push_back(with_collecting(facts.trace, loop));
    shortening.shorten(whole.back().first, whole.back().end, loop);
    stretches.push_back({whole.back().first, whole.back().end});
  }
  std::vector<bool> has_backward(loops.size());
  for (const BackwardCall& call : backward_calls_of(facts, stretches)) {
    const CallLoop& loop = loops[call.stretch];
    has_backward[call.stretch] = true;
    const bool is_over_parts = loop.over == LoopOver::kRows || loop.over == LoopOver::kParts;
    if (is_over_parts && takes_a_part(facts.trace.name(facts.trace.events.cause[call.op])))
      shortening.shorten_gradients_of_parts(call.op, loop);
    else
      shortening.shorten(call.op, subtree_end(facts.trace, call.op), loop);
  }
  // What changes parameters comes behind the backward pass, and is no part of what that goes through.
  std::vector<CallLoop> gone_through;
  for (std::size_t i = 0; i < whole.size(); ++i)
    if (whole[i].over != LoopOver::kParameters || has_backward[i]) gone_through.push_back(std::move(whole[i]));
  shortening.shorten_rest_of_backward(gone_through);
  shortening.shorten_between_calls(loops);
  return shortening.take();
}

}  // namespace telltale
