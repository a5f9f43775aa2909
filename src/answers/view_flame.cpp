#include "answers/view_flame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <expected>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "answers/event_place.h"
#include "answers/suggestion.h"
#include "answers/view_colors.h"
#include "answers/view_memory_report.h"
#include "answers/view_steps.h"
#include "memory/standing_stacks.h"
#include "report/compact_json.h"
#include "report/text_width.h"

namespace telltale::answers {
namespace {

// One of some words.
template <typename Value, std::size_t kSize>
Result<Value> value_of(std::string_view option, const std::string& word,
                       const std::array<std::pair<std::string_view, Value>, kSize>& words) {
  std::vector<std::string> known;
  for (const auto& [each, value] : words) {
    if (each == word) return value;
    known.emplace_back(each);
  }
  return failure(fmt::format("{} cannot be '{}'{}", option, word, suggestion_or_choice(word, known)));
}

constexpr std::string_view kPeak = "peak";
constexpr std::array<std::pair<std::string_view, FlameWeight>, 4> kWeights = {{{"host", FlameWeight::kHostTime},
                                                                               {"device", FlameWeight::kDeviceTime},
                                                                               {"memory", FlameWeight::kBytes},
                                                                               {kPeak, FlameWeight::kBytes}}};
constexpr std::array<std::pair<std::string_view, FlameFrames>, 2> kFrames = {
    {{"stack", FlameFrames::kStacks}, {"module", FlameFrames::kModules}}};
constexpr std::array<std::pair<std::string_view, FlameOrder>, 2> kOrders = {
    {{"heavy", FlameOrder::kHeavy}, {"time", FlameOrder::kTime}}};

Result<FlameOptions> parsed(const FlameRequest& request) {
  const auto weight = value_of("weight", request.weight, kWeights);
  if (!weight) return std::unexpected(weight.error());
  const auto frames = value_of("by", request.by, kFrames);
  if (!frames) return std::unexpected(frames.error());
  const auto order = value_of("order", request.order, kOrders);
  if (!order) return std::unexpected(order.error());
  return FlameOptions{.weight = *weight, .frames = *frames, .order = *order};
}

// The tree as the page wants it: a column for each member.
struct FlameColumns {
  std::string_view unit = "ns";
  std::int64_t total = 0;
  std::vector<std::string> names;
  std::vector<std::uint32_t> name;
  std::vector<std::int32_t> parent;
  std::vector<std::int64_t> value, start;
  std::vector<ColorIndex> color;
  std::vector<std::optional<EventId>> example;
  std::size_t left_out = 0;
};

// As the page shows it. Where the recorder paused, the tree is of a trace that has texts of its own; events are the
// same.
std::string shown_name(const View& view, const Trace& trace, const FlameNode& node) {
  if (node.is_track && node.name == kEmptyString) return "outside of modules";
  const bool is_of_event = !node.is_track && node.example != kNoEvent && trace.events.name[node.example] == node.name;
  if (is_of_event) return view.names->shown(view.trace->events.name[node.example]);
  return cut_to_width(printable(trace.strings[node.name]), 160);
}

// `trace` is what the tree was made of.
FlameColumns columns_of(const View& view, const Trace& trace, const FlameTree& tree) {
  FlameColumns columns;
  columns.total = tree.total;
  columns.left_out = tree.left_out;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers;
  for (const FlameNode& node : tree.nodes) {
    const auto [at, is_new] = numbers.try_emplace(std::uint64_t{node.name} << 1 | std::uint64_t{node.is_track},
                                                  static_cast<std::uint32_t>(columns.names.size()));
    if (is_new) columns.names.push_back(shown_name(view, trace, node));
    columns.name.push_back(at->second);
    columns.parent.push_back(node.parent);
    columns.value.push_back(node.value);
    columns.start.push_back(node.start);
    columns.color.push_back(node.example == kNoEvent ? color_index(Kind::kOther) : color_of_event(view, node.example));
    columns.example.push_back(event_or_null(node.example));
  }
  return columns;
}

// Nodes without an event are frames of a stack as text, which are Python's, but for what stands outside of all calls.
FlameColumns columns_of(const View& view, const StandingStacks& stacks) {
  FlameColumns columns;
  columns.unit = "bytes";
  columns.total = stacks.tree.total;
  columns.left_out = stacks.tree.left_out;
  for (const std::string& name : stacks.names) columns.names.push_back(cut_to_width(printable(name), 160));
  for (const FlameNode& node : stacks.tree.nodes) {
    columns.name.push_back(node.name);
    columns.parent.push_back(node.parent);
    columns.value.push_back(node.value);
    columns.start.push_back(node.start);
    const bool is_frame = stacks.names[node.name].find("): ") != std::string::npos;  // "model.py(12): forward"
    const Kind kind = is_frame ? Kind::kPython : Kind::kOther;
    columns.color.push_back(node.example == kNoEvent ? color_index(kind) : color_of_event(view, node.example));
    columns.example.push_back(event_or_null(node.example));
  }
  return columns;
}

template <typename Fields>
void describe(Fields& fields, const FlameColumns& flame) {
  fields.object("Flame", "Calls inside of calls, parents first");
  fields.member("unit", flame.unit, "`ns` or `bytes`");
  fields.member("total", flame.total, "of the outermost");
  fields.member("names", flame.names, "that nodes have");
  fields.member("name", flame.name, "by node, likewise below: its place in `names`");
  fields.member("parent", flame.parent, "the call around it; -1: none");
  fields.member("value", flame.value, "with all within");
  fields.member("start", flame.start, "where it lies among all");
  fields.member("color", flame.color, "its place among the colors");
  fields.member("example", flame.example, "its longest event");
  fields.member("left_out", flame.left_out, "nodes that are too small to be drawn");
}

}  // namespace

Result<FlameAnswer> flame(const View& view, const FlameRequest& request) {
  const auto options = parsed(request);
  if (!options) return std::unexpected(options.error());
  const FlameKey key{request.weight, request.by, request.order, request.weight == kPeak ? StepsText() : request.steps};
  if (request.weight == kPeak) {
    if (!has_memory(*view.trace))
      return FlameAnswer{std::make_shared<const std::string>(compact_json_of(FlameColumns{.unit = "bytes"}))};
    const auto held = held_memory_of(view);
    if (!held) return std::unexpected(held.error());
    return FlameAnswer{
        view.kept->flames.get(key, [&] { return compact_json_of(columns_of(view, (*held)->stacks(*options))); })};
  }
  const auto chosen = chosen_steps(view, request.steps);
  if (!chosen) return std::unexpected(chosen.error());
  return FlameAnswer{view.kept->flames.get(key, [&] {
    const Trace& trace = *(*chosen)->trace;
    FlameColumns columns = columns_of(view, trace, flame_tree(trace, (*chosen)->timing, *options));
    if (options->weight == FlameWeight::kBytes) columns.unit = "bytes";
    return compact_json_of(columns);
  })};
}

}  // namespace telltale::answers
