#include "advise/patterns/turn_contents.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace telltale {
namespace {

enum Role : std::uint8_t {
  kNoRole,
  kProduct,
  kConvolution,
  kSigmoid,
  kTanh,
  kCell,
  kLookup,
  kAttentionOrNorm,
  kPick,
  kPickByCondition,
  kTake,
  kChange,
  kCopy,
  kReduction,
  kArithmetic,
  kView,
};

struct NamedRole {
  std::string_view op;  // without "aten::"
  Role role;
};

constexpr auto kRoles = std::to_array<NamedRole>({
    {"mm", kProduct},
    {"addmm", kProduct},
    {"bmm", kProduct},
    {"baddbmm", kProduct},
    {"_convolution", kConvolution},
    {"sigmoid", kSigmoid},
    {"sigmoid_", kSigmoid},
    {"tanh", kTanh},
    {"tanh_", kTanh},
    {"lstm_cell", kCell},
    {"gru_cell", kCell},
    {"rnn_tanh_cell", kCell},
    {"rnn_relu_cell", kCell},
    {"_thnn_fused_lstm_cell", kCell},
    {"_thnn_fused_gru_cell", kCell},
    {"embedding", kLookup},
    {"embedding_bag", kLookup},
    {"_softmax", kAttentionOrNorm},
    {"scaled_dot_product_attention", kAttentionOrNorm},
    {"native_layer_norm", kAttentionOrNorm},
    {"native_batch_norm", kAttentionOrNorm},
    {"cudnn_batch_norm", kAttentionOrNorm},
    {"rsqrt", kAttentionOrNorm},
    {"index", kPick},
    {"index_select", kPick},
    {"index_add_", kPick},
    {"index_put_", kPick},
    {"nonzero", kPickByCondition},
    {"masked_select", kPickByCondition},
    {"scatter_add_", kPick},
    {"select", kTake},
    {"slice", kTake},
    {"narrow", kTake},
    {"mul_", kChange},
    {"add_", kChange},
    {"sub_", kChange},
    {"div_", kChange},
    {"lerp_", kChange},
    {"addcmul_", kChange},
    {"addcdiv_", kChange},
    {"clamp_", kChange},
    {"copy_", kCopy},
    {"linalg_vector_norm", kChange},
    {"norm", kReduction},
    {"sum", kReduction},
    {"mean", kReduction},
    {"max", kReduction},
    {"dot", kReduction},
    {"mul", kArithmetic},
    {"add", kArithmetic},
    {"sub", kArithmetic},
    {"div", kArithmetic},
    {"lerp", kArithmetic},
    {"pow", kArithmetic},
    {"sqrt", kArithmetic},
    {"square", kArithmetic},
    {"abs", kArithmetic},
    {"neg", kArithmetic},
    {"sign", kArithmetic},
    {"clamp", kArithmetic},
    {"addcmul", kArithmetic},
    {"addcdiv", kArithmetic},
    {"clone", kArithmetic},
    {"detach", kView},
    {"detach_", kView},
    {"alias", kView},
    {"item", kView},
    {"_has_compatible_shallow_copy_type", kView},
    {"zeros_like", kView},
    {"empty_like", kView},
    {"to", kView},
});

Role role_of(std::string_view op) {
  constexpr std::string_view kAten = "aten::";
  if (!op.starts_with(kAten)) return kNoRole;
  const auto found = std::ranges::find(kRoles, op.substr(kAten.size()), &NamedRole::op);
  return found == kRoles.end() ? kNoRole : found->role;
}

// What a loop over parameters consists of, and none over layers does.
bool is_plain_arithmetic(Role role) {
  return role == kChange || role == kCopy || role == kReduction || role == kArithmetic || role == kView;
}

}  // namespace

TurnReader::TurnReader(const Facts& facts) : facts_(facts), roles_(facts.trace.strings.size()) {
  for (StringId name = 0; name < roles_.size(); ++name) roles_[name] = role_of(facts.trace.strings[name]);
  for (const EventId event : events_named(
           facts, Kind::kOperator, [](std::string_view name) { return name == "torch::autograd::AccumulateGrad"; }))
    if (const std::vector<Shape> shapes = tensor_shapes(texts_of(facts.trace, event).shapes); !shapes.empty())
      parameters_.insert(shapes.front());
  for (const CopyCall& copy : facts.diagnosis.copies.calls)
    if (copy.direction == CopyDirection::kHostToDevice || copy.direction == CopyDirection::kDeviceToHost)
      if (const EventId launch = facts.trace.launch_of(copy.event); launch != kNoEvent)
        crossings_.insert(facts.trace.ancestor(launch, Kind::kOperator));
}

TurnReader::Contents TurnReader::contents_of(EventId first, EventId end) const {
  const Events& events = facts_.trace.events;
  Contents contents;
  EventId end_of_module = first;  // that the event is in
  for (EventId event = first; event < end; ++event) {
    if (events.kind[event] == Kind::kModule) {
      end_of_module = std::max(end_of_module, subtree_end(facts_.trace, event));
      contents.has_expert = contents.has_expert || facts_.trace.name(event).contains("xpert");
    }
    if (events.kind[event] != Kind::kOperator) continue;
    const bool is_outside = event >= end_of_module;
    const auto role = static_cast<Role>(roles_[events.name[event]]);
    const EventId around = facts_.trace.ancestor(event, Kind::kOperator);
    const bool is_called_by_turn = around == kNoEvent || around < first;
    if (is_called_by_turn)
      contents.only_arithmetic = contents.only_arithmetic && is_outside && is_plain_arithmetic(role);
    switch (role) {
      case kProduct:
        ++contents.products;
        if (contents.has_sigmoid || contents.has_tanh) ++contents.products_behind_gates;
        break;
      case kConvolution:
        contents.has_convolution = true;
        break;
      case kSigmoid:
        contents.has_sigmoid = true;
        break;
      case kTanh:
        contents.has_tanh = true;
        break;
      case kCell:
        contents.has_cell = true;
        break;
      case kLookup:
        contents.has_lookup = true;
        break;
      case kAttentionOrNorm:
        contents.has_attention_or_norm = true;
        break;
      case kPick:
        contents.picks_rows = contents.picks_rows || is_outside;
        break;
      case kPickByCondition:
        contents.picks_by_condition = contents.picks_by_condition || is_outside;
        break;
      case kTake:
        contents.takes_part = contents.takes_part || is_outside;
        break;
      case kChange:
        contents.changes_in_place = contents.changes_in_place || is_outside;
        break;
      case kCopy:
        if (crossings_.contains(event)) contents.only_arithmetic = false;  // it saves a tensor or loads one
        // Within another operator, it fills what that one makes.
        else if (is_called_by_turn)
          contents.changes_in_place = contents.changes_in_place || is_outside;
        break;
      default:
        break;
    }
  }
  return contents;
}

TurnReader::Modules TurnReader::modules_of(std::span<const EventId> turns, EventId end) const {
  const Events& events = facts_.trace.events;
  std::set<StringId> distinct;
  std::size_t modules = 0;
  for (EventId event = turns.front(); event < end; ++event) {
    if (events.kind[event] != Kind::kModule) continue;
    ++modules;
    distinct.insert(events.name[event]);
    event = subtree_end(facts_.trace, event) - 1;
  }
  if (modules < turns.size()) return Modules::kNone;
  return 2 * distinct.size() <= modules ? Modules::kShared : Modules::kOneEach;
}

float TurnReader::calls_left_by_lists(EventId turn, EventId end) const {
  const Events& events = facts_.trace.events;
  int computing = 0, needed = 0;
  for (EventId event = turn; event < end; ++event) {
    if (events.kind[event] != Kind::kOperator) continue;
    const auto role = static_cast<Role>(roles_[events.name[event]]);
    const bool changes = role == kChange || role == kCopy;
    if (changes || role == kReduction) ++needed;
    if (changes || role == kReduction || role == kArithmetic) ++computing;
    event = subtree_end(facts_.trace, event) - 1;
  }
  return computing == 0 ? 1 : static_cast<float>(std::max(1, needed)) / static_cast<float>(computing);
}

// Whether turns begin with tensors of several shapes, those of parameters as far as they are known.
bool TurnReader::goes_over_parameters(std::span<const EventId> turns, EventId end) const {
  std::set<Shape> distinct;
  std::size_t known = 0;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const EventId behind = i + 1 < turns.size() ? turns[i + 1] : end;
    for (EventId event = turns[i]; event < behind; ++event) {
      std::vector<Shape> shapes = tensor_shapes(texts_of(facts_.trace, event).shapes);
      if (shapes.empty()) continue;
      if (parameters_.contains(shapes.front())) ++known;
      distinct.insert(std::move(shapes.front()));
      break;
    }
  }
  // Where nothing is known of parameters, more shapes have to tell. Some are frozen.
  constexpr std::size_t kLeastShapes = 3, kLeastKnownShapes = 2;
  if (distinct.size() >= kLeastShapes) return parameters_.empty() || 2 * known >= turns.size();
  return distinct.size() >= kLeastKnownShapes && 10 * known >= 9 * turns.size();
}

// Whether most turns take from places of their own, as far as the values of arguments tell: layers take the same of
// theirs.
bool TurnReader::takes_other_parts(std::span<const EventId> turns, EventId end) const {
  const Trace& trace = facts_.trace;
  std::set<std::vector<StringId>> distinct;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const EventId behind = i + 1 < turns.size() ? turns[i + 1] : end;
    std::vector<StringId> places;
    for (EventId event = turns[i]; event < behind; ++event) {
      if (trace.events.kind[event] == Kind::kModule) {
        event = subtree_end(trace, event) - 1;
        continue;
      }
      if (trace.events.kind[event] != Kind::kOperator || roles_[trace.events.name[event]] != kTake) continue;
      const OperatorInfo* const info = trace.operators.find(event);
      if (info == nullptr || info->inputs == OperatorInfo::kNoInputs) return false;
      places.push_back(trace.operator_inputs[info->inputs].concrete);
      if (places.back() == kEmptyString) return false;
    }
    if (!places.empty()) distinct.insert(std::move(places));
  }
  return 2 * distinct.size() > turns.size();
}

// How many parts an operator that splits a tensor gives, as far as its arguments tell; 0 where they do not.
std::size_t TurnReader::parts_given_by(EventId op) const {
  const std::string_view name = facts_.trace.name(op);
  const bool unbinds = name == "aten::unbind", splits = name == "aten::split", chunks = name == "aten::chunk";
  if (!unbinds && !splits && !chunks) return 0;
  const OperatorTexts texts = texts_of(facts_.trace, op);
  const std::vector<Shape> shapes = tensor_shapes(texts.shapes);
  const std::vector<std::string> values = concrete_values(texts.concrete);
  // unbind(tensor, dimension), split(tensor, size, dimension), chunk(tensor, count, dimension)
  const std::size_t place = unbinds ? 1 : 2;
  const auto number = [&](std::size_t i) -> std::int64_t {
    const Shape one = i < values.size() ? whole_numbers("[" + values[i] + "]") : Shape{};
    return one.size() == 1 ? one.front() : -1;
  };
  if (shapes.empty() || number(place) < 0 || number(place) >= std::ssize(shapes.front())) return 0;
  const std::int64_t extent = shapes.front()[static_cast<std::size_t>(number(place))];
  if (unbinds) return static_cast<std::size_t>(std::max<std::int64_t>(extent, 0));
  if (number(1) <= 0) return 0;
  return static_cast<std::size_t>(chunks ? number(1) : (extent + number(1) - 1) / number(1));
}

// Whether a tensor has been split into as many parts as there are turns, shortly before the first.
bool TurnReader::follows_a_split(std::span<const EventId> turns) const {
  constexpr EventId kFarthest = 200;
  const Events& events = facts_.trace.events;
  for (EventId back = 1; back <= std::min(kFarthest, turns.front()); ++back) {
    const EventId event = turns.front() - back;
    if (events.track[event] != events.track[turns.front()]) return false;
    if (events.kind[event] == Kind::kOperator && parts_given_by(event) == turns.size()) return true;
  }
  return false;
}

std::optional<LoopOver> TurnReader::what_turns_are_over(std::span<const EventId> turns, EventId end) const {
  // The second turn: the first one may begin with what only it does.
  const Contents turn = contents_of(turns[1], turns[2]);
  const Modules modules = modules_of(turns, end);
  const bool computes = turn.products > 0 || turn.has_convolution;
  if (turn.has_lookup && !computes && !turn.has_attention_or_norm) return LoopOver::kTables;
  // Gates follow the products of the input and of the state; a network of layers has products behind them.
  const bool has_gates = turn.products > 0 && turn.products_behind_gates == 0 && !turn.has_convolution &&
                         ((turn.has_sigmoid && turn.has_tanh) || (turn.products > 1 && turn.has_tanh));
  const bool is_shared = modules == Modules::kShared || (modules == Modules::kNone && turn.takes_part);
  if (turn.has_cell ? modules != Modules::kOneEach : has_gates && is_shared) return LoopOver::kCells;
  if (turn.products > 0 && modules != Modules::kShared && !turn.has_attention_or_norm &&
      (turn.picks_rows || turn.picks_by_condition || turn.has_expert))
    return LoopOver::kExperts;
  const bool may_change = turn.changes_in_place || (turn.only_arithmetic && !parameters_.empty());
  if (!computes && may_change && !turn.has_attention_or_norm && !turn.has_lookup && goes_over_parameters(turns, end))
    return LoopOver::kParameters;
  if (modules == Modules::kOneEach || turn.has_lookup || turn.has_convolution) return {};
  const bool picks = turn.picks_by_condition && turn.picks_rows && !computes;
  const bool takes = turn.takes_part && !turn.has_attention_or_norm && takes_other_parts(turns, end);
  return picks || takes || follows_a_split(turns) ? std::optional(LoopOver::kParts) : std::nullopt;
}

}  // namespace telltale
