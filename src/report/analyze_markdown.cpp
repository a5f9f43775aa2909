#include "report/analyze_markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "base/amounts.h"
#include "base/text_encoding.h"
#include "report/activity_words.h"
#include "report/analyze_words.h"
#include "report/energy_words.h"
#include "report/text_width.h"

namespace telltale {
namespace {

// A fence longer than any run of backticks within.
std::string fenced(std::string_view code) {
  std::size_t longest = 2, run = 0;
  for (const char each : code) {
    run = each == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  std::string text = fence + "diff\n";
  while (!code.empty()) {
    const std::size_t end = std::min(code.find('\n'), code.size());
    text += printable(repaired_utf8(code.substr(0, end))) + '\n';
    code.remove_prefix(std::min(end + 1, code.size()));
  }
  return text + fence + '\n';
}

std::string breakdown_table(const Diagnosis& diagnosis) {
  const std::vector<BreakdownPart> rows = diagnosis.breakdown.parts();
  if (rows.empty()) return {};
  std::string text = fmt::format("\n| {} | time | % |\n|---|--:|--:|\n", breakdown_caption(diagnosis));
  for (const BreakdownPart& row : rows) {
    text += fmt::format("| {}{} | {} | {} |\n", row.is_idle ? "idle: " : "", label_of(row), format_time(row.ns),
                        percent_digits(row.percent));
  }
  return text;
}

std::string activity_tables(const Diagnosis& diagnosis) {
  std::string text;
  if (!diagnosis.latencies.empty())
    text += "\n| repeats | times | p50 | p90 | p99 | max | waits |\n|---|--:|--:|--:|--:|--:|--:|\n";
  for (const SpanLatency& latency : diagnosis.latencies | std::views::take(kMostActivityRows)) {
    const LatencyCells cells = latency_cells(latency);
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", markdown_escaped(cells.name), cells.count, cells.p50,
                        cells.p90, cells.p99, cells.max, cells.waiting.empty() ? "–" : cells.waiting);
  }
  const HostActivity& host = diagnosis.host;
  if (!host.threads.empty())
    text += fmt::format("\n| thread | busy of {} | in, % |\n|---|--:|---|\n", format_time(host.window_ns));
  for (const ThreadActivity& thread : host.threads | std::views::take(kMostActivityRows)) {
    text += fmt::format("| {} | {} | {} |\n", markdown_escaped(thread.name), format_percent(host.busy_percent(thread)),
                        markdown_escaped(scopes_text(host, thread)));
  }
  if (!diagnosis.counters.empty()) text += "\n| counter | mean | least | most |\n|---|--:|--:|--:|\n";
  for (const CounterSummary& counter : diagnosis.counters | std::views::take(kMostActivityRows)) {
    const CounterCells cells = counter_cells(counter);
    text +=
        fmt::format("| {} | {} | {} | {} |\n", markdown_escaped(cells.name), cells.mean, cells.minimum, cells.maximum);
  }
  return text;
}

std::string findings_table(const Diagnosis& diagnosis) {
  std::string text = "\n| | finding | saves per step | % | low to high | where |\n|--:|---|--:|--:|--:|---|\n";
  std::size_t number = 0;
  for (const Finding& finding : diagnosis.findings) {
    const bool is_time = is_about_time(finding);
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", ++number, markdown_escaped(finding.title),
                        is_time                    ? format_time(finding.saving.likely)
                        : finding.saving_bytes > 0 ? memory_saving_text(finding)
                                                   : "–",
                        is_time ? percent_digits(finding.saving.likely_percent) : "–",
                        is_time ? saving_range(finding.saving) : "–",
                        finding.source ? markdown_escaped(source_text(*finding.source)) : "");
  }
  return text;
}

std::string evidence_list(const Finding& finding, const Trace& trace) {
  constexpr std::size_t kLongestName = 120;
  std::string text;
  for (const EventId event : finding.evidence) {
    if (event >= trace.events.size()) continue;
    const std::string name = cut_to_width(printable(repaired_utf8(trace.name(event))), kLongestName);
    text += fmt::format("- {}: {}, at {}\n", markdown_escaped(name), format_time(trace.events.duration[event]),
                        format_time(trace.events.start[event]));
  }
  return text.empty() ? text : "\nEvidence:\n\n" + text;
}

std::string section_of(const RuleInfo& rule) {
  const std::pair<std::string_view, std::string_view> parts[] = {
      {"Looks for", rule.looks_for}, {"Needs", rule.needs}, {"Saving", rule.saving}, {"How well it held", rule.held}};
  std::string text = fmt::format("\n### {}\n\n{}.\n\n", rule.id, markdown_escaped(rule.title));
  for (const auto& [label, words] : parts)
    if (!words.empty()) text += fmt::format("- **{}:** {}\n", label, markdown_escaped(words));
  return text;
}

}  // namespace

std::string markdown_escaped(std::string_view text) {
  constexpr std::string_view kMarkup = "\\`*_[]|~#$";
  std::string escaped;
  for (const char each : printable(repaired_utf8(text))) {
    if (each == '<') {
      escaped += "&lt;";
    } else if (each == '>') {
      escaped += "&gt;";
    } else if (each == '&') {
      escaped += "&amp;";
    } else {
      if (kMarkup.find(each) != std::string_view::npos) escaped += '\\';
      escaped += each;
    }
  }
  return escaped;
}

std::string finding_markdown(const Finding& finding, std::size_t number, const Trace& trace) {
  std::string text = fmt::format("\n<details>\n<summary>{}. {}</summary>\n", number, markdown_escaped(finding.title));
  for (const std::string& part :
       {finding.explanation, parts_text(finding), finding.fix.text, also_explains_text(finding)}) {
    if (!part.empty()) text += '\n' + markdown_escaped(part) + '\n';
  }
  if (!finding.fix.code.empty()) text += '\n' + fenced(finding.fix.code);
  text += evidence_list(finding, trace);
  text += fmt::format("\nRule `{}`, {} confidence.\n", finding.rule, name_of(finding.confidence));
  return text + "</details>\n";
}

std::string analyze_markdown(const Diagnosis& diagnosis, const Trace& trace) {
  std::string text =
      fmt::format("### {}\n\n{}\n", markdown_escaped(subject_line(diagnosis)),
                  diagnosis.is_about_steps ? headline_text(diagnosis) : markdown_escaped(headline_text(diagnosis)));
  text += diagnosis.is_about_steps ? breakdown_table(diagnosis) : activity_tables(diagnosis);
  if (const std::string energy = energy_text(diagnosis); !energy.empty())
    text += '\n' + markdown_escaped(energy) + '\n';
  if (diagnosis.findings.empty()) {
    if (diagnosis.is_about_steps) text += fmt::format("\n{}\n", nothing_found_text(diagnosis));
  } else {
    text += findings_table(diagnosis);
  }
  std::size_t number = 0;
  for (const Finding& finding : diagnosis.findings) text += finding_markdown(finding, ++number, trace);
  if (std::ranges::count_if(diagnosis.findings, is_about_time) > 1) text += fmt::format("\n{}\n", kSavingsOverlap);
  if (const std::string remarks = remarks_text(diagnosis); !remarks.empty())
    text += '\n' + markdown_escaped(remarks) + '\n';
  return text;
}

std::string rules_markdown(std::span<const RuleInfo> rules) {
  std::string text = "| rule | what it finds |\n|---|---|\n";
  for (const RuleInfo& rule : rules)
    text += fmt::format("| [{}](#{}) | {} |\n", rule.id, rule.id, markdown_escaped(rule.title));
  for (const RuleInfo& rule : rules) text += section_of(rule);
  return text;
}

}  // namespace telltale
