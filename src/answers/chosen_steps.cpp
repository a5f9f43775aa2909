#include "answers/chosen_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "base/amounts.h"
#include "trace/own_recordings.h"

namespace telltale::answers {
namespace {

constexpr std::int64_t kWarmupSteps = 2;
constexpr std::ptrdiff_t kLeastLeft = 3;

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// "0 to 7 and 62 to 68": a recorder leaves steps out. Of many such stretches, the first ones and the last.
std::string words_for_numbers(std::vector<std::int64_t> numbers) {
  constexpr std::size_t kMostStretches = 4;
  std::ranges::sort(numbers);
  std::vector<std::string> stretches;
  for (auto first = numbers.begin(); first != numbers.end();) {
    const auto gap =
        std::adjacent_find(first, numbers.end(), [](std::int64_t one, std::int64_t next) { return next > one + 1; });
    const std::int64_t last = gap == numbers.end() ? numbers.back() : *gap;
    stretches.push_back(*first == last ? fmt::format("{}", last) : fmt::format("{} to {}", *first, last));
    first = std::ranges::upper_bound(numbers, last);
  }
  if (stretches.size() > kMostStretches) {
    stretches.erase(stretches.begin() + kMostStretches - 1, stretches.end() - 1);
    stretches.insert(stretches.end() - 1, "…");
  }
  return listed(stretches);
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
  range.is_asked_for = true;
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
  const std::vector<FoundStep> steps = steps_in(trace, {});
  if (steps.empty())
    return fmt::format("no step matches {}: the trace marks no steps, and nothing in it repeats", choice.words);
  std::vector<std::int64_t> numbers;
  for (const FoundStep& step : steps) numbers.push_back(step.index);
  return fmt::format("no step matches {} (the trace has {}{})", choice.words, steps.size() == 1 ? "only step " : "",
                     words_for_numbers(std::move(numbers)));
}

SteadySteps steady_steps(const Trace& trace, const StepChoice& choice) {
  if (choice.range || trace.metadata_named(kFromStart) == nullptr) return {choice.range, {}};
  const std::vector<FoundStep> steps = steps_in(trace, {});
  if (steps.size() < 2) return {};
  // What comes before the first step may have a mark, though it is none: see settle_first_step().
  const bool has_prelude = !trace.steps.empty() && trace.steps.front().index < steps.front().index;
  const std::int64_t behind_warmup = kWarmupSteps + (has_prelude ? 1 : 0);
  const auto is_warmup = [&](const FoundStep& step) { return step.index < behind_warmup; };
  std::ptrdiff_t warmup = std::ranges::count_if(steps, is_warmup);
  if (std::ssize(steps) - warmup < kLeastLeft) warmup = std::min<std::ptrdiff_t>(warmup, 1);
  if (warmup == 0) return {};
  return {StepRange{.first = steps[static_cast<std::size_t>(warmup)].index},
          warmup == 1 ? "The first step warms up and is left out; choose steps 0.. to include it."
                      : fmt::format("The first {} warm up and are left out; choose steps 0.. to include them.",
                                    counted(static_cast<double>(warmup), "step"))};
}

namespace {

constexpr std::size_t kMostListed = 4;

std::string about_outliers(const StepTiming& timing) {
  std::vector<std::string> numbers, durations;
  std::vector<Nanoseconds> taken;
  for (const StepSpan& step : timing.left_out) {
    if (!step.is_outlier) continue;
    numbers.push_back(std::to_string(step.index));
    durations.push_back(format_time(step.duration()));
    taken.push_back(step.duration());
  }
  if (numbers.empty()) return {};
  const std::vector<StepSpan> all = all_steps(timing);
  if (numbers.size() > kMostListed) {
    const auto [least, most] = std::ranges::minmax(taken);
    return fmt::format(
        "{} steps from {} to {} take {} to {} where others take {}, and are left out; choose steps "
        "{}..{} to include them.",
        numbers.size(), numbers.front(), numbers.back(), format_time(least), format_time(most),
        format_time(timing.median), all.front().index, all.back().index);
  }
  const bool is_one = numbers.size() == 1;
  return fmt::format("{} {} {} {} where others take {}, and {} left out; choose steps {}..{} to include {}.",
                     is_one ? "Step" : "Steps", listed(numbers), is_one ? "takes" : "take", listed(durations),
                     format_time(timing.median), is_one ? "is" : "are", all.front().index, all.back().index,
                     is_one ? "it" : "them");
}

std::string about_cut_steps(const StepTiming& timing) {
  std::vector<std::string> sentences;
  const auto is_before = [&](const StepSpan& step) { return step.host.begin < timing.steps.front().host.begin; };
  double after = 0;
  for (const StepSpan& step : timing.left_out) {
    if (!step.is_cut) continue;
    if (is_before(step))
      sentences.emplace_back("The first step waits for work of before the recording, and is left out.");
    else
      ++after;
  }
  if (after == 1)
    sentences.emplace_back("The recording ended before the GPU had done the work of the last step, which is left out.");
  else if (after > 1)
    sentences.push_back(
        fmt::format("The recording ended before the GPU had done the work of the last {}, which are left out.",
                    counted(after, "step")));
  return fmt::format("{}", fmt::join(sentences, " "));
}

}  // namespace

std::string remark_on_left_out(const StepTiming& timing) {
  std::string text = about_cut_steps(timing);
  const std::string outliers = about_outliers(timing);
  if (!text.empty() && !outliers.empty()) text += ' ';
  text += outliers;
  const auto is_explained = [](const StepSpan& step) { return step.is_cut || step.is_outlier; };
  if (std::ranges::all_of(timing.left_out, is_explained)) return text;
  if (!text.empty()) text += ' ';
  return text + fmt::format("Only steps {} to {} count, the longest run without a pause or an outlier.",
                            timing.steps.front().index, timing.steps.back().index);
}

}  // namespace telltale::answers
