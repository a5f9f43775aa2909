#include "answers/analyze.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "answers/explain.h"
#include "answers/page_file.h"
#include "base/amounts.h"
#include "report/analyze_html.h"
#include "report/analyze_markdown.h"
#include "report/analyze_terminal.h"
#include "report/json.h"

namespace telltale::answers {
namespace {

Result<DiagnosisOptions> parsed(const AnalyzeRequest& request) {
  DiagnosisOptions options;
  if (!(request.min_saving >= 0 && request.min_saving <= 100))
    return failure(fmt::format("{} must be a percentage from 0 to 100, not {}", spelled(request.spelling, "min_saving"),
                               format_number(request.min_saving)));
  options.least_saving_percent = request.min_saving;
  for (const auto& [keyword, value] : {std::pair("price", request.price), std::pair("carbon", request.carbon)})
    if (value && !(*value >= 0 && std::isfinite(*value)))
      return failure(fmt::format("{} must be an amount per kWh, 0 or more, not {}", spelled(request.spelling, keyword),
                                 format_number(*value)));
  options.prices = {request.price, request.carbon};
  for (const std::string& id : request.rules) {
    const auto rule = rule_named(id);
    if (!rule) return std::unexpected(rule.error());
    options.rules.emplace_back((*rule)->id);
  }
  return options;
}

}  // namespace

std::string AnalyzeAnswer::json() const { return to_json(diagnosis, *trace); }

std::string AnalyzeAnswer::markdown() const { return analyze_markdown(diagnosis, *trace); }

std::string AnalyzeAnswer::html() const { return analyze_html(diagnosis, *trace); }

std::string AnalyzeAnswer::terminal(const TextStyle& style) const { return analyze_text(diagnosis, *trace, style); }

Result<AnalyzeAnswer> analyze(const AnalyzeRequest& request) {
  auto options = parsed(request);
  if (!options) return std::unexpected(options.error());
  const auto choice = parsed_choice(request.steps, request.spelling);
  if (!choice) return std::unexpected(choice.error());
  const bool has_page = !request.page.empty();
  if (has_page) {
    if (const auto good = check_page(request.page, request.source.path, request.spelling); !good)
      return std::unexpected(good.error());
  }
  const auto source = load(request.source);
  if (!source) return std::unexpected(source.error());
  if (std::string reason = why_no_step(*source->trace, *choice); !reason.empty())
    return failure(std::move(reason), source->path);

  source->tell("Analyzing");
  AnalyzeAnswer answer = analyzed(*source, unpaused(source->trace), *choice, *std::move(options));
  if (has_page) {
    if (const auto written = write_page(request.page, answer.html()); !written) return std::unexpected(written.error());
  }
  return answer;
}

AnalyzeAnswer analyzed(const Source& source, const UnpausedTrace& unpaused, const StepChoice& choice,
                       DiagnosisOptions options) {
  const SteadySteps steps = steady_steps(*source.trace, choice);
  options.steps = steps.range;
  AnalyzeAnswer answer{diagnose(*unpaused.trace, options), unpaused.trace};
  answer.diagnosis.path = source.path;
  for (const std::string& remark : {steps.remark, unpaused.remark, remark_on_left_out(answer.diagnosis.timing)})
    if (!remark.empty()) answer.diagnosis.remarks.push_back(remark);
  return answer;
}

}  // namespace telltale::answers
