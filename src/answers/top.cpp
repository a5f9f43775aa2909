#include "answers/top.h"

#include <fmt/format.h>

#include "answers/chosen_steps.h"
#include "answers/row_words.h"
#include "answers/suggestion.h"
#include "base/amounts.h"
#include "report/csv.h"
#include "report/json.h"
#include "report/top_table.h"

namespace telltale::answers {
namespace {

constexpr std::size_t kRowsOnScreen = 20;

// Each row repeats the frames of its stack.
constexpr std::int64_t kMostFrames = 200;

// A request whose words make sense.
struct Parsed {
  KeyAveragesOptions options;
  StepChoice steps;
  std::optional<SortKey> sort;
};

std::vector<std::string> sort_names() {
  const auto names = sort_key_names();
  return {names.begin(), names.end()};
}

Result<void> check_numbers(const TopRequest& request) {
  const auto too_small = [&](std::string_view keyword, std::int64_t least, std::int64_t given) {
    return failure(fmt::format("{} must be {} or more, not {}", spelled(request.spelling, keyword), least, given));
  };
  if (request.limit && *request.limit < 0) return too_small("limit", 0, *request.limit);
  if (request.stack_depth < 1) return too_small("stack_depth", 1, request.stack_depth);
  if (request.stack_depth > kMostFrames)
    return failure(fmt::format("{} must be {} or less, not {}", spelled(request.spelling, "stack_depth"), kMostFrames,
                               request.stack_depth));
  return {};
}

Result<KindSet> chosen_rows(const TopRequest& request) {
  if (request.by && request.kinds)
    return failure(
        fmt::format("give {} or {}, not both", spelled(request.spelling, "by"), spelled(request.spelling, "kinds")));
  if (request.by) return rows_named(*request.by, request.spelling);
  return request.kinds ? kinds_named(*request.kinds) : KeyAveragesOptions().kinds;
}

Result<std::optional<SortKey>> chosen_order(const TopRequest& request) {
  if (!request.sort) return std::optional<SortKey>();
  if (const auto key = sort_key_named(*request.sort)) return key;
  return failure(fmt::format("{} cannot be '{}'{}", spelled(request.spelling, "sort"), *request.sort,
                             suggestion_or_choice(*request.sort, sort_names())));
}

Result<Parsed> parsed(const TopRequest& request) {
  if (const auto good = check_numbers(request); !good) return std::unexpected(good.error());
  const auto kinds = chosen_rows(request);
  if (!kinds) return std::unexpected(kinds.error());
  const auto grouping = grouping_named(request.group, request.spelling);
  if (!grouping) return std::unexpected(grouping.error());
  const auto sort = chosen_order(request);
  if (!sort) return std::unexpected(sort.error());
  const auto steps = parsed_choice(request.steps, request.spelling);
  if (!steps) return std::unexpected(steps.error());
  return Parsed{{*kinds, *grouping, static_cast<std::size_t>(request.stack_depth), steps->range, true}, *steps, *sort};
}

}  // namespace

std::string TopAnswer::json() const { return to_json(averages); }

std::string TopAnswer::csv() const { return to_csv(averages); }

std::string TopAnswer::terminal(const TextStyle& style) const {
  const auto table = [&](const KeyAverages& shown) {
    return top_table(shown, {sorted_by, has_full_names, all_rows - shown.rows.size()}, style);
  };
  if (is_limited || averages.rows.size() <= kRowsOnScreen) return table(averages);
  KeyAverages first = averages;
  first.rows.resize(kRowsOnScreen);
  return table(first);
}

std::string sort_words() { return listed(sort_names(), "or"); }

Result<TopAnswer> top(const TopRequest& request) {
  const auto asked = parsed(request);
  if (!asked) return std::unexpected(asked.error());
  const auto source = load(request.source);
  if (!source) return std::unexpected(source.error());
  if (std::string reason = why_no_step(*source->trace, asked->steps); !reason.empty())
    return failure(std::move(reason), source->path);

  TopAnswer answer;
  answer.averages = key_averages(*source->trace, asked->options);
  answer.sorted_by = asked->sort.value_or(default_sort_key(answer.averages));
  sort_rows(answer.averages.rows, answer.sorted_by);
  answer.all_rows = answer.averages.rows.size();
  answer.is_limited = request.limit.has_value();
  answer.has_full_names = request.has_full_names;
  const auto limit = static_cast<std::size_t>(request.limit.value_or(0));
  if (limit > 0 && limit < answer.all_rows) answer.averages.rows.resize(limit);
  return answer;
}

}  // namespace telltale::answers
