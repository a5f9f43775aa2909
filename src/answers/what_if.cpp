#include "answers/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "answers/change_words.h"
#include "answers/chosen_steps.h"
#include "answers/unpaused.h"
#include "base/amounts.h"
#include "report/json.h"
#include "report/text_width.h"
#include "report/whatif_terminal.h"

namespace telltale::answers {
namespace {

std::string nothing_to_change(Spelling spelling) {
  std::vector<std::string> options;
  for (const char* keyword : {"remove", "scale", "no_sync", "instant_data", "graph", "no_observer"})
    options.push_back(spelled(spelling, keyword));
  return "say what to change: " + listed(options, "or");
}

// Whether what all factors match would take too many times as long.
bool multiplies_too_much(const std::vector<PatternChange>& changes) {
  double product = 1;
  for (const PatternChange& change : changes) product *= std::max(change.factor, 1.0);
  return product > kLargestFactor;
}

Result<Changes> parsed(const WhatIfRequest& request) {
  Changes changes;
  const auto add = [&](const std::vector<std::string>& texts, auto change_of) -> Result<void> {
    for (const std::string& text : texts) {
      Result<PatternChange> change = change_of(text, request.spelling);
      if (!change) return std::unexpected(change.error());
      changes.patterns.push_back(*std::move(change));
    }
    return {};
  };
  if (const auto added = add(request.remove, removal_of); !added) return std::unexpected(added.error());
  if (const auto added = add(request.scale, scaling_of); !added) return std::unexpected(added.error());
  if (multiplies_too_much(changes.patterns))
    return failure(fmt::format("the factors of {} multiply to more than {}", spelled(request.spelling, "scale"),
                               format_number(kLargestFactor)));
  changes.drops_waits = request.no_sync;
  changes.has_instant_data = request.instant_data;
  changes.runs_as_graph = request.graph;
  changes.leaves_out_observer = request.no_observer;
  if (!changes.has_any() && !changes.leaves_out_observer) return failure(nothing_to_change(request.spelling));
  return changes;
}

}  // namespace

std::string WhatIfAnswer::json() const { return to_json(what_if); }

std::string WhatIfAnswer::terminal(const TextStyle& style) const {
  const std::string text = whatif_text(what_if, style);
  return remark.empty() ? text : text + paragraph_of("Note: " + remark, style.width);
}

Result<WhatIfAnswer> what_if(const WhatIfRequest& request) {
  const auto changes = parsed(request);
  if (!changes) return std::unexpected(changes.error());
  const auto choice = parsed_choice(request.steps, request.spelling);
  if (!choice) return std::unexpected(choice.error());
  const auto source = load(request.source);
  if (!source) return std::unexpected(source.error());
  if (std::string reason = why_no_step(*source->trace, *choice); !reason.empty())
    return failure(std::move(reason), source->path);

  source->tell("Replaying");
  SteadySteps steps = steady_steps(*source->trace, *choice);
  WhatIfAnswer answer{telltale::what_if(*unpaused(source->trace).trace, *changes, steps.range),
                      std::move(steps.remark)};
  if (const std::string left_out = remark_on_left_out(answer.what_if.timing); !left_out.empty())
    answer.remark += (answer.remark.empty() ? "" : " ") + left_out;
  answer.what_if.path = source->path;
  if (std::string reason = why_no_match(answer.what_if, *source->trace); !reason.empty())
    return failure(std::move(reason), source->path);
  return answer;
}

}  // namespace telltale::answers
