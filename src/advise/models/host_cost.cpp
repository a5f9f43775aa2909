#include "advise/models/host_cost.h"

#include <algorithm>
#include <charconv>

#include "analysis/operator_work.h"

namespace telltale {
namespace {

constexpr double kNanoseconds = 1e9;

bool is_convolution(std::string_view name) { return name.contains("conv"); }

}  // namespace

HostCost::HostCost(const Facts& facts)
    : facts_(facts),
      threads_(std::max(1.0, session_number(facts.trace, "torch_threads").value_or(1))),
      is_leaf_(facts.trace.events.size()),
      share_(facts.trace.events.size()) {
  const Events& events = facts.trace.events;
  std::vector<Nanoseconds> own = events.duration;
  for (EventId event = 0; event < events.size(); ++event) {
    if (events.parent[event] != kNoEvent) own[events.parent[event]] -= events.duration[event];
    if (events.kind[event] != Kind::kOperator) continue;
    is_leaf_[event] = true;
    EventId around = events.parent[event];
    while (around != kNoEvent && events.kind[around] != Kind::kOperator) around = events.parent[around];
    if (around != kNoEvent) is_leaf_[around] = false;
  }
  for (EventId event = 0; event < events.size(); ++event) {
    if (events.kind[event] != Kind::kOperator || !facts.is_in_steps(event)) continue;
    if (is_leaf_[event]) leaves_.push_back(event);
    share_[event] = share_of(event, static_cast<double>(own[event]));
  }
}

HostCost::Work HostCost::work_of(EventId op) {
  const OperatorInfo* const info = facts_.trace.operators.find(op);
  if (info == nullptr || info->inputs == OperatorInfo::kNoInputs) return {};
  const auto [place, is_new] = works_.try_emplace({facts_.trace.events.name[op], info->inputs});
  if (!is_new) return place->second;
  const OperatorWork work = operator_work(facts_.trace.name(op), texts_of(facts_.trace, op));
  const double moving = work.bytes.value_or(0) / kBytesPerSecond * kNanoseconds;
  if (work.flops)
    place->second = {*work.flops / (kFlopsPerSecond * threads_) * kNanoseconds, moving};
  else if (work.bytes)
    place->second = {moving, 0};
  return place->second;
}

float HostCost::share_of(EventId op, double own) {
  if (own <= 0) return 0;
  const Work work = is_leaf_[op] ? work_of(op) : Work{};
  const Nanoseconds most = is_convolution(facts_.trace.name(op)) ? kMostFixedOfConvolution : kMostFixed;
  const double beyond = own - static_cast<double>(most) - work.fixed;
  return static_cast<float>(std::clamp(std::max(work.growing.value_or(0), beyond) / own, 0.0, 1.0));
}

std::optional<double> session_number(const Trace& trace, std::string_view name) {
  const std::string* const text = trace.metadata_named(name);
  double value = 0;
  if (text == nullptr) return {};
  const auto read = std::from_chars(text->data(), text->data() + text->size(), value);
  if (read.ec != std::errc() || read.ptr != text->data() + text->size()) return {};
  return value;
}

}  // namespace telltale
