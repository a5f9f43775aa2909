#include "advise/models/host_cost.h"

#include <algorithm>

#include "analysis/names_where.h"
#include "analysis/robust_statistics.h"
#include "base/interned_values.h"
#include "trace/recording_facts.h"
#include "trace/shapes.h"
#include "trace/side_table.h"

namespace telltale {
namespace {

constexpr double kNanoseconds = 1e9;

// Calls that are told apart: by name and arguments.
struct Call {
  StringId name = kEmptyString;
  std::uint32_t inputs = OperatorInfo::kNoInputs;
  bool operator==(const Call&) const = default;
};
std::uint64_t hash_value(const Call& call) { return hash_with(0, std::uint64_t{call.name} << 32 | call.inputs); }

// Calls that should take the same time.
struct EqualCalls {
  StringId name = kEmptyString, shapes = kEmptyString, types = kEmptyString;
  bool operator==(const EqualCalls&) const = default;
};
std::uint64_t hash_value(const EqualCalls& calls) {
  return hash_with(hash_with(0, std::uint64_t{calls.name} << 32 | calls.shapes), calls.types);
}
constexpr std::uint32_t kNoEqual = UINT32_MAX;

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

HostOperator described(std::string_view name, const OperatorTexts& texts) {
  Elements largest = 0;
  for (const Shape& shape : tensor_shapes(texts.shapes))
    if (!shape.empty()) largest = std::max(largest, elements_of(shape));
  return {operator_work(name, texts), largest, number_type(texts)};
}

// In nanoseconds; nothing where shapes do not tell.
struct Work {
  std::optional<double> growing;
  double fixed = 0;  // at most, that is not overhead: reading weights
};

Work work_of(const OperatorWork& work, double threads) {
  const double moving = work.bytes.value_or(0) / HostCost::kBytesPerSecond * kNanoseconds;
  if (work.flops) return {*work.flops / (HostCost::kFlopsPerSecond * threads) * kNanoseconds, moving};
  if (work.bytes) return {moving, 0};
  return {};
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
    : threads_(std::max(1.0, session_number(facts.trace, "torch_threads").value_or(1))),
      is_leaf_(facts.trace.events.size()),
      contains_others_(facts.trace.events.size()),
      share_(facts.trace.events.size()),
      own_(facts.trace.events.duration),
      call_of_(facts.trace.events.size()) {
  const std::vector<EventId> around = find_structure(facts);
  find_calls(facts);
  find_shares(facts, computing(around));
}

std::vector<EventId> HostCost::find_structure(const Facts& facts) {
  const Events& events = facts.trace.events;
  std::vector<EventId> around(events.size(), kNoEvent);
  for (EventId event = 0; event < events.size(); ++event) {
    const EventId parent = events.parent[event];
    if (parent != kNoEvent) {
      own_[parent] -= events.duration[event];
      around[event] = events.kind[parent] == Kind::kOperator ? parent : around[parent];
    }
    if (events.kind[event] != Kind::kOperator) continue;
    is_leaf_[event] = true;
    if (around[event] != kNoEvent) is_leaf_[around[event]] = false;
  }
  for (EventId event = static_cast<EventId>(events.size()); event-- > 0;)  // parents come before what they contain
    if (events.parent[event] != kNoEvent && (events.kind[event] != Kind::kOperator || contains_others_[event]))
      contains_others_[events.parent[event]] = true;
  for (EventId event = 0; event < events.size(); ++event) {
    if (events.kind[event] != Kind::kOperator || !facts.is_in_steps(event)) continue;
    if (is_leaf_[event]) leaves_.push_back(event);
    operators_.push_back(event);
  }
  return around;
}

void HostCost::find_calls(const Facts& facts) {
  const Trace& trace = facts.trace;
  InternedValues<Call> calls;
  InternedValues<EqualCalls> equal;
  known_.emplace_back();
  equal_.push_back(kNoEqual);
  SideTableWalk<OperatorInfo> infos(trace.operators);
  for (const EventId op : operators_) {
    const OperatorInfo* const info = infos.find(op);
    if (info == nullptr || info->inputs == OperatorInfo::kNoInputs) continue;
    const Call call{trace.events.name[op], info->inputs};
    call_of_[op] = calls.intern(call) + 1;
    if (call_of_[op] < known_.size()) continue;
    known_.push_back(described(trace.name(op), texts_of(trace, op)));
    const OperatorInputs& inputs = trace.operator_inputs[info->inputs];
    equal_.push_back(inputs.shapes == kEmptyString ? kNoEqual : equal.intern({call.name, inputs.shapes, inputs.types}));
  }
}

// Leaves, and products that call only what makes their arguments ready.
std::vector<bool> HostCost::computing(const std::vector<EventId>& around) const {
  std::vector<bool> has_product(around.size());  // within it
  std::vector<bool> computes = is_leaf_;
  for (auto at = operators_.rbegin(); at != operators_.rend(); ++at) {
    const bool is_product = known(*at).work.flops.has_value();
    if (is_product && !has_product[*at]) computes[*at] = true;
    if (!is_product && !has_product[*at]) continue;
    if (around[*at] != kNoEvent) has_product[around[*at]] = true;
  }
  return computes;
}

// By call: an operator that was kept from running for a while has no more to do than others with equal arguments.
std::vector<std::optional<Nanoseconds>> HostCost::usual_times() const {
  std::vector<std::vector<Nanoseconds>> times;  // by number of equal calls
  for (const EventId op : operators_) {
    const std::uint32_t equal = equal_[call_of_[op]];
    if (equal == kNoEqual) continue;
    if (equal >= times.size()) times.resize(equal + 1);
    times[equal].push_back(own_[op]);
  }
  std::vector<Nanoseconds> medians;
  for (std::vector<Nanoseconds>& own : times) medians.push_back(median(std::move(own)));
  std::vector<std::optional<Nanoseconds>> usual(known_.size());
  for (CallId call = 0; call < usual.size(); ++call)
    if (equal_[call] != kNoEqual) usual[call] = medians[equal_[call]];
  return usual;
}

void HostCost::find_shares(const Facts& facts, const std::vector<bool>& computes) {
  const std::vector<std::optional<Nanoseconds>> usual = usual_times();
  const std::vector<bool> is_of_convolution = names_where(facts.trace, is_convolution);
  for (const EventId op : operators_) {
    const CallId call = call_of_[op];
    const auto own = static_cast<double>(usual[call].value_or(own_[op]));
    if (own <= 0) continue;
    const Work work = computes[op] ? work_of(known_[call].work, threads_) : Work{};
    const Nanoseconds most = is_of_convolution[facts.trace.events.name[op]] ? kMostFixedOfConvolution : kMostFixed;
    const double beyond = own - static_cast<double>(most) - work.fixed;
    share_[op] = static_cast<float>(std::clamp(std::max(work.growing.value_or(0), beyond) / own, 0.0, 1.0));
  }
}

}  // namespace telltale
