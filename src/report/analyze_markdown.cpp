#include "report/analyze_markdown.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "report/analyze_words.h"
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
  const std::vector<BreakdownRow> rows = breakdown_rows(diagnosis);
  if (rows.empty()) return {};
  std::string text = fmt::format("\n| {} | time | % |\n|---|--:|--:|\n", breakdown_caption(diagnosis));
  for (const BreakdownRow& row : rows) {
    text += fmt::format("| {}{} | {} | {} |\n", row.is_idle ? "idle: " : "", row.label, time_text(row.ns),
                        percent_digits(row.percent));
  }
  return text;
}

std::string findings_table(const Diagnosis& diagnosis) {
  std::string text = "\n| | finding | saves a step | % | low to high | where |\n|--:|---|--:|--:|--:|---|\n";
  std::size_t number = 0;
  for (const Finding& finding : diagnosis.findings) {
    const bool is_time = is_about_time(finding);
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", ++number, markdown_escaped(finding.title),
                        is_time ? time_text(finding.saving.likely) : "–",
                        is_time ? percent_digits(saving_percent(diagnosis, finding.saving.likely)) : "–",
                        is_time ? saving_range(diagnosis, finding.saving) : "–",
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
    text += fmt::format("- {}: {}, at {}\n", markdown_escaped(name), time_text(trace.events.duration[event]),
                        time_text(trace.events.start[event]));
  }
  return text.empty() ? text : "\nEvidence:\n\n" + text;
}

std::string details(const Finding& finding, std::size_t number, const Trace& trace) {
  std::string text = fmt::format("\n<details>\n<summary>{}. {}</summary>\n", number, markdown_escaped(finding.title));
  for (const std::string& part : {finding.explanation, finding.fix.text, also_explains_text(finding)}) {
    if (!part.empty()) text += '\n' + markdown_escaped(part) + '\n';
  }
  if (!finding.fix.code.empty()) text += '\n' + fenced(finding.fix.code);
  text += evidence_list(finding, trace);
  text += fmt::format("\nRule `{}`, {} confidence.\n", finding.rule, name_of(finding.confidence));
  return text + "</details>\n";
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

std::string analyze_markdown(const Diagnosis& diagnosis, const Trace& trace) {
  std::string text = fmt::format("### {}\n\n{}\n", markdown_escaped(subject_line(diagnosis)), headline_text(diagnosis));
  for (const std::string& remark : diagnosis.remarks) text += "\n> " + markdown_escaped(remark) + '\n';
  text += breakdown_table(diagnosis);
  if (diagnosis.findings.empty()) {
    text += fmt::format("\n{}\n", kNothingFound);
  } else {
    text += findings_table(diagnosis);
  }
  std::size_t number = 0;
  for (const Finding& finding : diagnosis.findings) text += details(finding, ++number, trace);
  if (std::ranges::count_if(diagnosis.findings, is_about_time) > 1) text += fmt::format("\n{}\n", kSavingsOverlap);
  if (const std::string note = anomaly_note(trace); !note.empty()) text += '\n' + note + '\n';
  return text;
}

}  // namespace telltale
