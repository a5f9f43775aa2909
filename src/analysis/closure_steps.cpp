#include "analysis/closure_steps.h"

#include "analysis/names_where.h"

namespace telltale {
namespace {

bool is_optimizer_step(std::string_view name) { return name.starts_with("Optimizer.step"); }

bool goes_backward(std::string_view name) {
  return name.starts_with("autograd::engine::") || name.starts_with("<built-in method run_backward");
}

}  // namespace

std::vector<bool> in_closure_step(const Trace& trace) {
  const Events& events = trace.events;
  const std::vector<bool> is_step = names_where(trace, is_optimizer_step),
                          is_backward = names_where(trace, goes_backward);
  std::vector<bool> has_backward_inside(events.size()), is_inside(events.size());
  const auto mark = [&](EventId event) {
    for (; event != kNoEvent && !has_backward_inside[event]; event = events.parent[event])
      has_backward_inside[event] = true;
  };
  for (EventId event = 0; event < events.size(); ++event) {
    if (is_backward[events.name[event]]) mark(event);
    // What goes backward may do so on a thread of its own; then the forward operator that it follows tells.
    if (events.kind[event] == Kind::kOperator && events.cause[event] != kNoEvent) mark(events.cause[event]);
  }
  for (EventId event = 0; event < events.size(); ++event) {
    const EventId parent = events.parent[event];
    is_inside[event] =
        (parent != kNoEvent && is_inside[parent]) || (is_step[events.name[event]] && has_backward_inside[event]);
  }
  return is_inside;
}

}  // namespace telltale
