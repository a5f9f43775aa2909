#include "answers/view_steps.h"

#include <expected>
#include <utility>
#include <vector>

#include "answers/chosen_steps.h"
#include "answers/table_rows.h"
#include "trace/unrecorded_steps.h"

namespace telltale::answers {
namespace {

std::shared_ptr<const UnpausedTrace> unpaused_trace(const View& view) {
  return view.kept->unpaused.get(0, [&] { return unpaused(view.trace); });
}

Result<StepChoice> choice_in(const View& view, const StepsText& steps) {
  auto choice = parsed_choice(steps, Spelling::kKeywords);
  if (!choice) return choice;
  if (std::string reason = why_no_step(*view.trace, *choice); !reason.empty()) return failure(std::move(reason));
  return choice;
}

Result<ChosenSteps> find_steps(const View& view, const StepsText& steps) {
  const auto choice = choice_in(view, steps);
  if (!choice) return std::unexpected(choice.error());
  const std::shared_ptr<const UnpausedTrace> unpaused = unpaused_trace(view);
  return ChosenSteps{unpaused->trace, step_timing(*unpaused->trace, steady_steps(*view.trace, *choice).range).value()};
}

// What only rules and files look at: every gap, every call, all that a fix is about. Of a long trace these lists take
// as much memory as its index, and a diagnosis is kept as long as the page is open.
void drop_long_lists(Diagnosis& diagnosis) {
  diagnosis.breakdown.gaps = std::vector<IdleGap>();
  diagnosis.kernels.calls = std::vector<DeviceCall>();
  for (Finding& finding : diagnosis.findings) finding.reach = std::vector<EventId>();
}

Result<AnalyzeAnswer> diagnose_steps(const View& view, const StepsText& steps) {
  const auto choice = choice_in(view, steps);
  if (!choice) return std::unexpected(choice.error());
  Source source;
  source.path = view.path;
  source.trace = view.trace;
  AnalyzeAnswer answer = analyzed(source, *unpaused_trace(view), *choice, {.keeps_fixes = true});
  drop_long_lists(answer.diagnosis);
  return answer;
}

Result<LineTimes> find_lines(const View& view, const StepsText& steps) {
  const auto chosen = chosen_steps(view, steps);
  if (!chosen) return std::unexpected(chosen.error());
  return line_times(*(*chosen)->trace, (*chosen)->timing);
}

// What lives as long as the whole that it is a part of.
template <typename Value>
Result<std::shared_ptr<const Value>> value_in(const std::shared_ptr<const Result<Value>>& made) {
  if (!*made) return std::unexpected(made->error());
  return std::shared_ptr<const Value>(made, &**made);
}

}  // namespace

Result<std::shared_ptr<const ChosenSteps>> chosen_steps(const View& view, const StepsText& steps) {
  return value_in(view.kept->steps.get(steps, [&] { return find_steps(view, steps); }));
}

Result<std::shared_ptr<const AnalyzeAnswer>> diagnosis_of(const View& view, const StepsText& steps) {
  return value_in(view.kept->diagnoses.get(steps, [&] { return diagnose_steps(view, steps); }));
}

bool has_diagnosis_of(const View& view, const StepsText& steps) { return view.kept->diagnoses.has(steps); }

Result<std::shared_ptr<const LineTimes>> lines_of(const View& view, const StepsText& steps) {
  return value_in(view.kept->lines.get(steps, [&] { return find_lines(view, steps); }));
}

Result<std::shared_ptr<const FullTable>> full_table(const View& view, const TableKey& key) {
  return value_in(view.kept->tables.get(key, [&] { return made_table(view, key); }));
}

Interval recorded_window(const View& view, const StepTiming& timing) {
  Interval window{timing.steps.front().host.begin, timing.steps.back().host.end};
  for (const Interval& pause : pauses(*view.trace)) {
    // Times behind the pause are those that come after where it was taken out; what ends there ended before it.
    if (window.begin >= pause.begin) window.begin += pause.length();
    if (window.end > pause.begin) window.end += pause.length();
  }
  return window;
}

}  // namespace telltale::answers
