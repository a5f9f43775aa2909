#include <fmt/format.h>

#include <algorithm>

#include "base/amounts.h"
#include "report/analyze_html_parts.h"
#include "report/analyze_words.h"
#include "report/html_text.h"
#include "report/shown_names.h"

namespace telltale::html {
namespace {

constexpr std::size_t kLongestName = 160;

// From low to high with a mark at likely, of all of the step, as the page has it.
std::string range_picture(const Saving& saving) {
  return fmt::format(
      "<svg viewBox=\"0 0 100 12\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
      "<line class=\"range-axis\" x1=\"0\" x2=\"100\" y1=\"6\" y2=\"6\"/>"
      "<line class=\"range\" x1=\"{}\" x2=\"{}\" y1=\"6\" y2=\"6\"/>"
      "<rect class=\"likely\" x=\"{}\" width=\"1.6\" y=\"1\" height=\"10\"/></svg>",
      html_number(saving.low_percent), html_number(saving.high_percent), html_number(saving.likely_percent - 0.8));
}

std::string saving_of(const Finding& finding) {
  if (!is_about_time(finding)) return "<div class=\"saving\"><span>saves no time</span></div>\n";
  return fmt::format(
      "<div class=\"saving\"><strong>{}</strong><span>saves {} per step</span>{}<span>{} %</span></div>\n",
      format_percent(finding.saving.likely_percent), format_time(finding.saving.likely), range_picture(finding.saving),
      saving_range(finding.saving));
}

std::string code_of(std::string_view code) {
  if (code.empty()) return {};
  std::string lines;
  while (!code.empty()) {
    const std::size_t end = std::min(code.find('\n'), code.size());
    const std::string_view line = code.substr(0, end);
    const std::string_view kind = line.starts_with("+ ") ? "added" : line.starts_with("- ") ? "removed" : "";
    const std::string text = html_escaped(line);
    lines += kind.empty() ? text + '\n' : fmt::format("<span class=\"{}\">{}</span>\n", kind, text);
    code.remove_prefix(std::min(end + 1, code.size()));
  }
  return "<pre>" + lines + "</pre>\n";
}

std::string where_of(const Finding& finding) {
  std::string text;
  if (finding.source) {
    text = fmt::format("<code>{}</code>", html_cut(source_text(*finding.source), kLongestName));
  }
  if (const std::string doubt = doubt_of(finding); !doubt.empty()) text += (text.empty() ? "" : " · ") + doubt;
  return text.empty() ? text : "<p class=\"where\">" + text + "</p>\n";
}

// In full, but for the folders in which Python's files lie.
std::string name_of(EventId event, const Trace& trace) {
  const std::string_view name = trace.name(event);
  if (trace.events.kind[event] != Kind::kPython) return html_cut(name, kLongestName);
  return html_cut(shortened_name(Kind::kPython, name), kLongestName);
}

std::string evidence_of(const Finding& finding, const Trace& trace) {
  std::string rows;
  int count = 0;
  for (const EventId event : finding.evidence) {
    if (event >= trace.events.size()) continue;
    ++count;
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
        name_of(event, trace), format_time(trace.events.start[event]), format_time(trace.events.duration[event]),
        event);
  }
  if (count == 0) return {};
  return fmt::format(
      "<details><summary>Evidence: {}</summary>\n<table class=\"evidence\"><thead><tr><th "
      "scope=\"col\">event</th>"
      "<th class=\"n\" scope=\"col\">at</th><th class=\"n\" scope=\"col\">takes</th><th class=\"n\" "
      "scope=\"col\">number</th></tr></thead>"
      "<tbody>\n{}</tbody></table></details>\n",
      counted(count, "event"), rows);
}

std::string finding_item(const Finding& finding, std::size_t number, const Trace& trace) {
  std::string about;
  for (const std::string& part :
       {finding.explanation, parts_text(finding), finding.fix.text, also_explains_text(finding)}) {
    if (!part.empty()) about += "<p>" + html_escaped(part) + "</p>\n";
  }
  about += code_of(finding.fix.code) + evidence_of(finding, trace);
  return fmt::format(
             "<li id=\"finding-{0}\">\n<span class=\"number\" "
             "aria-hidden=\"true\">{0}</span>\n<div><h3>{1}</h3>\n{2}</div>\n",
             number, html_escaped(finding.title), where_of(finding)) +
         saving_of(finding) + "<div class=\"about\">\n" + about + "</div>\n</li>\n";
}

}  // namespace

std::string findings_section(const Diagnosis& diagnosis, const Trace& trace) {
  if (diagnosis.findings.empty() && !diagnosis.is_about_steps) return {};
  if (diagnosis.findings.empty()) return section("findings", "What would help", nothing_found_text(diagnosis), "");
  std::string items;
  std::size_t number = 0;
  for (const Finding& finding : diagnosis.findings) items += finding_item(finding, ++number, trace);
  const bool overlap = std::ranges::count_if(diagnosis.findings, is_about_time) > 1;
  return section("findings", "What would help", overlap ? kSavingsOverlap : std::string_view(),
                 "<ol class=\"findings\">\n" + items + "</ol>\n");
}

}  // namespace telltale::html
