#include "bindings/core/answers.h"

#include <cmath>
#include <filesystem>
#include <map>
#include <system_error>

#include "advise/diagnosis.h"
#include "analysis/host_work.h"
#include "analysis/sort_key.h"
#include "analysis/step_strip.h"
#include "analysis/trace_info.h"
#include "bindings/core/chosen_kinds.h"
#include "replay/what_if.h"
#include "report/analyze_html.h"
#include "report/analyze_json.h"
#include "report/analyze_terminal.h"
#include "report/info_card.h"
#include "report/json.h"
#include "report/top_table.h"
#include "report/whatif_json.h"
#include "report/whatif_terminal.h"
#include "words/change_words.h"
#include "words/chosen_steps.h"
#include "words/event_pattern_text.h"
#include "words/row_words.h"
#include "words/rule_words.h"
#include "words/step_range_text.h"

namespace telltale::python {
namespace {

constexpr std::size_t kRowsOnScreen = 20;

TextStyle style_of(std::size_t width) { return {width, false}; }

Result<std::optional<StepRange>> chosen_steps(const LoadedTrace& loaded, const std::optional<std::string>& text) {
  if (!text) return std::optional<StepRange>();
  const std::optional<StepRange> steps = parsed_step_range(*text);
  if (!steps) return failure("'" + *text + "' is no range of steps; write 5, 3..7, 3.. or ..7");
  if (std::string reason = why_no_step(*loaded.trace, steps, "steps"); !reason.empty())
    return failure(std::move(reason), loaded.path);
  return steps;
}

template <typename Value>
Result<Value> value_of(const std::map<std::string, Value>& words, const std::string& word, const std::string& what) {
  const auto found = words.find(word);
  if (found != words.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [each, value] : words) known.push_back(each);
  return failure(no_such_word(what, word, known));
}

Result<KeyAveragesOptions> averages_options(const LoadedTrace& loaded, const TopRequest& request) {
  KeyAveragesOptions options;
  options.stack_depth = request.stack_depth;
  if (request.by && request.kinds) return failure("by and kinds both say which rows there are; give one of them");
  if (request.by || request.kinds) {
    const auto kinds = request.by ? value_of(kinds_by_word(), *request.by, "sort of row") : kinds_named(*request.kinds);
    if (!kinds) return std::unexpected(kinds.error());
    options.kinds = *kinds;
  }
  const auto grouping = value_of(groupings_by_word(), request.group, "grouping");
  if (!grouping) return std::unexpected(grouping.error());
  options.grouping = *grouping;
  const auto steps = chosen_steps(loaded, request.steps);
  if (!steps) return std::unexpected(steps.error());
  options.steps = *steps;
  return options;
}

Result<Changes> changes_of(const WhatIfRequest& request) {
  Changes changes;
  const auto add = [&](PatternChange change) -> Result<void> {
    auto good = checked(std::move(change));
    if (!good) return std::unexpected(good.error());
    changes.patterns.push_back(*std::move(good));
    return {};
  };
  for (const std::string& text : request.remove)
    if (const auto added = add({parsed_pattern(text), 0}); !added) return std::unexpected(added.error());
  for (const auto& [text, factor] : request.scale) {
    if (!std::isfinite(factor) || factor < 0) return failure("the factor of '" + text + "' is no number of 0 or more");
    if (const auto added = add({parsed_pattern(text), factor}); !added) return std::unexpected(added.error());
  }
  changes.drops_waits = request.no_sync;
  changes.has_instant_data = request.instant_data;
  changes.runs_as_graph = request.graph;
  changes.leaves_out_observer = request.no_observer;
  if (!changes.has_any() && !changes.leaves_out_observer)
    return failure("say what to change: remove, scale, no_sync, instant_data, graph or no_observer");
  return changes;
}

}  // namespace

Answer info(const LoadedTrace& loaded) {
  TraceInfo info = trace_info(*loaded.trace);
  info.path = loaded.path;
  std::error_code error;
  const std::uintmax_t bytes = loaded.path == "-" ? 0 : std::filesystem::file_size(loaded.path, error);
  if (loaded.path != "-" && !error) info.bytes = bytes;
  const auto shared = std::make_shared<const TraceInfo>(std::move(info));
  return {[shared] { return to_json(*shared); },
          [shared](std::size_t width) { return info_card(*shared, style_of(width)); },
          {}};
}

Result<Answer> top(const LoadedTrace& loaded, const TopRequest& request) {
  const auto options = averages_options(loaded, request);
  if (!options) return std::unexpected(options.error());
  std::optional<SortKey> sort;
  if (request.sort && !(sort = sort_key_named(*request.sort))) {
    const auto keys = sort_key_names();
    return failure(no_such_word("sort key", *request.sort, {keys.begin(), keys.end()}));
  }
  KeyAverages averages = key_averages(*loaded.trace, *options);
  const SortKey key = sort.value_or(default_sort_key(averages));
  sort_rows(averages.rows, key);
  const std::size_t all = averages.rows.size();
  if (request.limit && *request.limit < all) averages.rows.resize(*request.limit);
  const auto shared = std::make_shared<const KeyAverages>(std::move(averages));
  const bool is_limited = request.limit.has_value();
  return Answer{[shared] { return to_json(*shared); },
                [shared, key, all, is_limited](std::size_t width) {
                  KeyAverages shown = *shared;
                  if (!is_limited && shown.rows.size() > kRowsOnScreen) shown.rows.resize(kRowsOnScreen);
                  return top_table(shown, {key, false, all - shown.rows.size()}, style_of(width));
                },
                {}};
}

Result<Answer> analyze(const LoadedTrace& loaded, const AnalyzeRequest& request) {
  DiagnosisOptions options;
  if (!(request.min_saving >= 0 && request.min_saving <= 100)) return failure("min_saving is a percentage, 0 to 100");
  options.least_saving_percent = request.min_saving;
  for (const std::string& id : request.rules) {
    const auto rule = rule_named(id);
    if (!rule) return std::unexpected(rule.error());
    options.rules.emplace_back((*rule)->id);
  }
  const auto steps = chosen_steps(loaded, request.steps);
  if (!steps) return std::unexpected(steps.error());
  options.steps = *steps;

  Diagnosis diagnosis = diagnose(*loaded.trace, options);
  diagnosis.path = loaded.path;
  const auto shared = std::make_shared<const Diagnosis>(std::move(diagnosis));
  const auto trace = loaded.trace;
  return Answer{[shared, trace] { return to_json(*shared, *trace); },
                [shared, trace](std::size_t width) { return analyze_text(*shared, *trace, style_of(width)); },
                [shared, trace] {
                  const auto strip = step_strip(*trace, shared->timing, shared->breakdown, host_work_by_event(*trace));
                  return analyze_html(*shared, *trace, strip);
                }};
}

Result<Answer> what_if(const LoadedTrace& loaded, const WhatIfRequest& request) {
  const auto changes = changes_of(request);
  if (!changes) return std::unexpected(changes.error());
  const auto steps = chosen_steps(loaded, request.steps);
  if (!steps) return std::unexpected(steps.error());
  WhatIf answer = telltale::what_if(*loaded.trace, *changes, *steps);
  answer.path = loaded.path;
  if (std::string reason = why_no_match(answer, *loaded.trace); !reason.empty())
    return failure(std::move(reason), loaded.path);
  const auto shared = std::make_shared<const WhatIf>(std::move(answer));
  return Answer{[shared] { return to_json(*shared); },
                [shared](std::size_t width) { return whatif_text(*shared, style_of(width)); },
                {}};
}

}  // namespace telltale::python
