#include "advise/models/host_cost.h"

#include <algorithm>

#include "analysis/robust_statistics.h"
#include "trace/recording_facts.h"
#include "trace/shapes.h"

namespace telltale {
namespace {

constexpr double kNanoseconds = 1e9;

const HostOperator kUnknown;

NumberType number_type(const OperatorTexts& texts) {
  NumberType common = NumberType::kNone;
  for (const std::string& type : concrete_values(texts.types)) {
    const NumberType its = type == "float"           ? NumberType::kFloat
                           : type == "double"        ? NumberType::kDouble
                           : type == "c10::Half"     ? NumberType::kHalf
                           : type == "c10::BFloat16" ? NumberType::kBfloat16
                                                     : NumberType::kNone;
    if (its == NumberType::kNone) continue;
    if (common != NumberType::kNone && common != its) return NumberType::kMixed;
    common = its;
  }
  return common;
}

}  // namespace

bool is_convolution(std::string_view op) { return op.contains("conv"); }

HostTimes host_times(double flops, double bytes, double threads) {
  const auto at = [&](double flops_per_second, double bytes_per_second) {
    return (flops / flops_per_second + bytes / bytes_per_second) / threads * kNanoseconds;
  };
  return {at(HostTimes::kTypicalFlops, HostTimes::kTypicalBytes) + static_cast<double>(HostCost::kMostFixed),
          at(HostTimes::kMostFlops, HostTimes::kMostBytes)};
}

HostCost::HostCost(const Facts& facts)
    : facts_(facts),
      threads_(std::max(1.0, session_number(facts.trace, "torch_threads").value_or(1))),
      is_leaf_(facts.trace.events.size()),
      around_(facts.trace.events.size(), kNoEvent),
      share_(facts.trace.events.size()),
      own_(facts.trace.events.duration) {
  const Events& events = facts.trace.events;
  for (EventId event = 0; event < events.size(); ++event) {
    const EventId parent = events.parent[event];
    if (parent != kNoEvent) {
      own_[parent] -= events.duration[event];
      around_[event] = events.kind[parent] == Kind::kOperator ? parent : around_[parent];
    }
    if (events.kind[event] != Kind::kOperator) continue;
    is_leaf_[event] = true;
    if (around_[event] != kNoEvent) is_leaf_[around_[event]] = false;
  }
  for (EventId event = 0; event < events.size(); ++event) {
    if (events.kind[event] != Kind::kOperator || !facts.is_in_steps(event)) continue;
    if (is_leaf_[event]) leaves_.push_back(event);
    operators_.push_back(event);
  }
  find_usual_times();
  find_computing();
  for (const EventId op : operators_) share_[op] = share_of(op);
}

void HostCost::find_computing() {
  std::vector<bool> has_product(facts_.trace.events.size());  // within it
  computes_ = is_leaf_;
  for (auto at = operators_.rbegin(); at != operators_.rend(); ++at) {
    const bool is_product = look_up(*at).work.flops.has_value();
    if (is_product && !has_product[*at]) computes_[*at] = true;
    if (!is_product && !has_product[*at]) continue;
    if (around_[*at] != kNoEvent) has_product[around_[*at]] = true;
  }
}

std::optional<HostCost::EqualCalls> HostCost::equal_calls(EventId op) const {
  const OperatorInfo* const info = facts_.trace.operators.find(op);
  if (info == nullptr || info->inputs == OperatorInfo::kNoInputs) return {};
  const OperatorInputs& inputs = facts_.trace.operator_inputs[info->inputs];
  if (inputs.shapes == kEmptyString) return {};
  return EqualCalls{facts_.trace.events.name[op], inputs.shapes, inputs.types};
}

void HostCost::find_usual_times() {
  std::map<EqualCalls, std::vector<Nanoseconds>> times;
  for (const EventId op : operators_)
    if (const std::optional<EqualCalls> calls = equal_calls(op)) times[*calls].push_back(own_[op]);
  for (auto& [calls, own] : times) usual_[calls] = median(std::move(own));
}

Nanoseconds HostCost::usual_time(EventId op) const {
  const std::optional<EqualCalls> calls = equal_calls(op);
  return calls ? usual_.at(*calls) : own_[op];
}

const HostOperator& HostCost::look_up(EventId op) {
  const OperatorInfo* const info = facts_.trace.operators.find(op);
  if (info == nullptr || info->inputs == OperatorInfo::kNoInputs) return kUnknown;
  const auto [place, is_new] = known_.try_emplace({facts_.trace.events.name[op], info->inputs});
  if (!is_new) return place->second;
  const OperatorTexts texts = texts_of(facts_.trace, op);
  Elements largest = 0;
  for (const Shape& shape : tensor_shapes(texts.shapes))
    if (!shape.empty()) largest = std::max(largest, elements_of(shape));
  place->second = {operator_work(facts_.trace.name(op), texts), largest, number_type(texts)};
  return place->second;
}

const HostOperator& HostCost::known(EventId op) const {
  const OperatorInfo* const info = facts_.trace.operators.find(op);
  if (info == nullptr) return kUnknown;
  const auto found = known_.find({facts_.trace.events.name[op], info->inputs});
  return found == known_.end() ? kUnknown : found->second;
}

HostCost::Work HostCost::work_of(EventId op) {
  const OperatorWork& work = look_up(op).work;
  const double moving = work.bytes.value_or(0) / kBytesPerSecond * kNanoseconds;
  if (work.flops) return {*work.flops / (kFlopsPerSecond * threads_) * kNanoseconds, moving};
  if (work.bytes) return {moving, 0};
  return {};
}

float HostCost::share_of(EventId op) {
  const auto own = static_cast<double>(usual_time(op));
  const Work known = work_of(op), work = computes_[op] ? known : Work{};
  if (own <= 0) return 0;
  const Nanoseconds most = is_convolution(facts_.trace.name(op)) ? kMostFixedOfConvolution : kMostFixed;
  const double beyond = own - static_cast<double>(most) - work.fixed;
  return static_cast<float>(std::clamp(std::max(work.growing.value_or(0), beyond) / own, 0.0, 1.0));
}

}  // namespace telltale
