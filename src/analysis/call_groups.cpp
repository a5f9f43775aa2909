#include "analysis/call_groups.h"

#include "trace/step_marks.h"

namespace telltale {
namespace {

constexpr CallGroups::Group kFree = UINT32_MAX;
constexpr std::string_view kStepName = "ProfilerStep*";  // as torch.profiler calls all of them together

bool is_annotation(Kind kind) { return kind == Kind::kAnnotation || kind == Kind::kDeviceAnnotation; }

std::uint64_t mixed(std::uint64_t value) {
  value *= 0x9E3779B97F4A7C15U;
  return value ^ (value >> 32);
}

}  // namespace

CallGroups::CallGroups(const Trace& trace, const KeyAveragesOptions& options)
    : trace_(trace),
      grouping_(options.grouping),
      stacks_(trace, options.stack_depth),
      operators_(trace.operators),
      slots_(1024, kFree),
      shape_lists_(1) {}

CallGroups::Group CallGroups::of(EventId event) {
  const Key key{shown_name(event), detail_of(event), trace_.events.kind[event]};
  const std::size_t slot = slot_of(key);
  if (slots_[slot] != kFree) return slots_[slot];

  const Group group = static_cast<Group>(groups_.size());
  groups_.push_back(key);
  slots_[slot] = group;
  if (groups_.size() * 2 > slots_.size()) grow();
  return group;
}

KeyAverage CallGroups::described(Group group) const {
  const Key& key = groups_[group];
  KeyAverage row;
  row.name = step_name_ == key.name && is_annotation(key.kind) ? kStepName : trace_.strings[key.name];
  row.kind = key.kind;
  if (key.detail != 0 && grouping_ == Grouping::kShape) row.input_shapes = shape_lists_[key.detail];
  if (key.detail != 0 && grouping_ == Grouping::kStack) row.stack = stacks_.frames(key.detail);
  return row;
}

// The slot that holds the key's group, or the free one where it belongs.
std::size_t CallGroups::slot_of(const Key& key) const {
  const std::uint64_t where = std::uint64_t{key.detail} << 32 | key.name;
  std::size_t slot = mixed(where ^ mixed(static_cast<std::uint64_t>(key.kind)));
  for (;; ++slot) {
    slot &= slots_.size() - 1;
    if (slots_[slot] == kFree || groups_[slots_[slot]] == key) return slot;
  }
}

void CallGroups::grow() {
  slots_.assign(slots_.size() * 2, kFree);
  for (Group group = 0; group < groups_.size(); ++group) slots_[slot_of(groups_[group])] = group;
}

StringId CallGroups::shown_name(EventId event) {
  const StringId name = trace_.events.name[event];
  if (!is_annotation(trace_.events.kind[event])) return name;
  if (!is_step_name(trace_.strings[name])) return name;
  if (!step_name_) step_name_ = name;
  return *step_name_;
}

std::uint32_t CallGroups::detail_of(EventId event) {
  switch (grouping_) {
    case Grouping::kShape:
      return trace_.events.kind[event] == Kind::kOperator ? shapes_of(event) : 0;
    case Grouping::kStack:
      return stacks_.of(event);
    case Grouping::kName:
      break;
  }
  return 0;
}

std::uint32_t CallGroups::shapes_of(EventId event) {
  const OperatorInfo* info = operators_.find(event);
  if (info == nullptr || info->inputs == OperatorInfo::kNoInputs) return 0;
  const StringId text = trace_.operator_inputs[info->inputs].shapes;
  if (text == kEmptyString) return 0;
  const auto known = shape_list_of_text_.find(text);
  if (known != shape_list_of_text_.end()) return known->second;

  std::vector<Shape> shapes = tensor_shapes(trace_.strings[text]);
  const auto [at, is_new] =
      shape_list_ids_.try_emplace(to_string(shapes), static_cast<std::uint32_t>(shape_lists_.size()));
  if (is_new) shape_lists_.push_back(std::move(shapes));
  return shape_list_of_text_[text] = at->second;
}

}  // namespace telltale
