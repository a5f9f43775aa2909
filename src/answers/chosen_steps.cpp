#include "answers/chosen_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/amounts.h"

namespace telltale::answers {
namespace {

constexpr std::int64_t kWarmupSteps = 2;  // with the numbers 0 and 1
constexpr std::ptrdiff_t kLeastLeft = 3;

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

}  // namespace

std::optional<StepRange> parsed_step_range(std::string_view text) {
  constexpr std::string_view kTo = "..";
  StepRange range;
  const std::size_t to = text.find(kTo);
  const std::string_view first = text.substr(0, to);
  const std::string_view last = to == std::string_view::npos ? first : text.substr(to + kTo.size());
  if (first.empty() && last.empty()) return std::nullopt;
  if (!first.empty()) {
    const auto number = whole_number(first);
    if (!number) return std::nullopt;
    range.first = *number;
  }
  if (!last.empty()) {
    const auto number = whole_number(last);
    if (!number) return std::nullopt;
    range.last = *number;
  }
  if (range.last < range.first) return std::nullopt;
  return range;
}

Result<StepChoice> parsed_choice(const std::optional<std::string>& text, Spelling spelling) {
  if (!text) return StepChoice{};
  StepChoice choice{parsed_step_range(*text), spelled(spelling, "steps", *text)};
  if (!choice.range) return failure(choice.words + " is not a range of steps; write 5, 3..7, 3.. or ..7");
  return choice;
}

std::string why_no_step(const Trace& trace, const StepChoice& choice) {
  if (!choice.range || !steps_in(trace, *choice.range).empty()) return {};
  if (trace.steps.empty()) return fmt::format("no step matches {}: the trace marks no steps", choice.words);
  const auto [first, last] = std::ranges::minmax(trace.steps, {}, &Step::index);
  return first.index == last.index
             ? fmt::format("no step matches {} (the trace has only step {})", choice.words, first.index)
             : fmt::format("no step matches {} (the trace has {} to {})", choice.words, first.index, last.index);
}

SteadySteps steady_steps(const Trace& trace, const StepChoice& choice) {
  if (choice.range || trace.metadata_named(kFromStart) == nullptr) return {choice.range, {}};
  const auto warmup = std::ranges::count_if(trace.steps, [](const Step& step) { return step.index < kWarmupSteps; });
  if (warmup == 0 || std::ssize(trace.steps) - warmup < kLeastLeft) return {};
  return {StepRange{.first = kWarmupSteps},
          warmup == 1 ? "The first step warms up and is left out; choose steps 0.. to include it."
                      : fmt::format("The first {} warm up and are left out; choose steps 0.. to include them.",
                                    counted(static_cast<double>(warmup), "step"))};
}

}  // namespace telltale::answers
