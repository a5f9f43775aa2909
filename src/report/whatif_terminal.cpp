#include "report/whatif_terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/amounts.h"
#include "report/analyze_words.h"
#include "report/text_table.h"
#include "report/text_width.h"

namespace telltale {
namespace {

constexpr std::size_t kWidest = 100;    // longer lines are hard to read, however wide the screen
constexpr double kLeastPercent = 0.05;  // less is shown as 0.0 %
constexpr std::string_view kNotKnown = "–";

std::string sentence(std::string_view text, const TextStyle& style) {
  return paragraph_of(text, std::min(style.width, kWidest));
}

bool is_about_observer_only(const WhatIf& answer) {
  return answer.changes.leaves_out_observer && !answer.changes.has_any();
}

std::string headline_of(const WhatIf& answer) {
  const std::string_view start = is_about_observer_only(answer) ? "Without the profiler, a step" : "A step";
  const std::string before = format_time(answer.before.period);
  const double percent = std::abs(answer.saved_percent());
  if (percent < kLeastPercent) return fmt::format("{} would take {}, as before: this saves nothing.", start, before);
  return fmt::format("{} would take {} instead of {}: {} {} ({}).", start, format_time(answer.after.period), before,
                     format_time(std::abs(answer.saved())), answer.saved() > 0 ? "less" : "more",
                     format_percent(percent));
}

TextTable plain_table(std::string label_header) {
  TextTable table;
  table.label_header = std::move(label_header);
  table.fit_labels = [](const std::vector<std::string>& labels, std::size_t width) {
    std::vector<std::string> fitting;
    for (const std::string& label : labels) fitting.push_back(cut_to_width(label, width));
    return fitting;
  };
  return table;
}

std::string steps_table(const WhatIf& answer, const TextStyle& style) {
  TextTable table = plain_table("");
  const std::string_view observed =
      answer.changes.leaves_out_observer && answer.changes.has_any() ? ", without the profiler" : "";
  table.labels = {"As recorded", fmt::format("Replayed{}", observed),
                  is_about_observer_only(answer) ? "Without the profiler" : "After the change"};
  const auto share = [](Nanoseconds busy, const ReplayedStep& step) {
    return format_percent(percent_of(busy, step.period));
  };
  const ReplayedStep &before = answer.before, &after = answer.after;
  const auto add = [&](std::string header, std::string recorded, std::string replayed, std::string changed) {
    table.columns.push_back({std::move(header), {std::move(recorded), std::move(replayed), std::move(changed)}});
  };
  const std::string not_known(kNotKnown);
  add("Step", format_time(answer.recorded), format_time(before.period), format_time(after.period));
  if (answer.has_device) add("GPU busy", not_known, share(before.device_busy, before), share(after.device_busy, after));
  add("Host busy", not_known, share(before.host_busy, before), share(after.host_busy, after));
  return render(table, style);
}

struct ChangeRow {
  std::string what;
  Reach reach;
};

std::vector<ChangeRow> change_rows(const WhatIf& answer) {
  const Changes& changes = answer.changes;
  std::vector<ChangeRow> rows;
  for (std::size_t i = 0; i < changes.patterns.size(); ++i) {
    const auto& [pattern, factor] = changes.patterns[i];
    const std::string text = printable(text_of(pattern));
    rows.push_back(
        {factor == 0 ? "Removed " + text : fmt::format("Scaled by {:g}: {}", factor, text), answer.reach[i]});
  }
  if (changes.drops_waits) rows.push_back({"No call waits for the GPU", answer.waits});
  if (changes.has_instant_data) rows.push_back({"Batches are ready at once", answer.data});
  if (changes.runs_as_graph) rows.push_back({"One CUDA graph per step", answer.graph});
  return rows;
}

std::string changes_table(const WhatIf& answer, const TextStyle& style) {
  TextTable table = plain_table("Change");
  TextColumn calls{"Calls per step", {}}, work{"GPU work per step", {}};
  const auto steps = static_cast<double>(answer.timing.steps.size());
  const auto a_step = [&](std::int64_t count) {
    return count == 0 ? std::string(kNotKnown) : fmt::format("{:.4g}", static_cast<double>(count) / steps);
  };
  for (const auto& [what, reach] : change_rows(answer)) {
    table.labels.push_back(what);
    calls.cells.push_back(a_step(reach.calls));
    work.cells.push_back(a_step(reach.device_work));
  }
  if (table.labels.empty()) return {};
  table.columns = {std::move(calls)};
  if (answer.has_device) table.columns.push_back(std::move(work));
  return '\n' + render(table, style);
}

std::string pace_of(const WhatIf& answer) {
  const ReplayedStep& step = answer.after;
  if (step.period <= 0) return "Nothing is left of the step.";
  const std::string device = format_percent(percent_of(step.device_busy, step.period));
  const std::string host = format_percent(percent_of(step.host_busy, step.period));
  switch (answer.bottleneck()) {
    case Bottleneck::kBusyDevice:
      return fmt::format("The GPU then sets the pace: it works for {} of the step.", device);
    case Bottleneck::kBusyHost:
      return answer.has_device
                 ? fmt::format("The host then sets the pace: it works for {} of the step, the GPU for {}.", host,
                               device)
                 : fmt::format("The host sets the pace: it works for {} of the step.", host);
    case Bottleneck::kNeither:
      break;
  }
  if (!answer.has_device) return fmt::format("The host then works for {} of the step.", host);
  return fmt::format(
      "Neither is always busy: the GPU then works for {} of the step, the host for {}; the rest is waits and gaps.",
      device, host);
}

constexpr std::string_view kEstimate = "Replayed, not measured: everything else keeps its order and its own duration.";

}  // namespace

std::string whatif_text(const WhatIf& answer, const TextStyle& style) {
  const std::string subject = file_label(answer.path) + " · " + steps_label(answer.timing);
  return style.faint(cut_to_width(subject, style.width)) + '\n' + style.bold(sentence(headline_of(answer), style)) +
         '\n' + steps_table(answer, style) + changes_table(answer, style) + '\n' + sentence(pace_of(answer), style) +
         style.faint(sentence(kEstimate, style));
}

}  // namespace telltale
