#include "report/analyze_html.h"

#include <fmt/format.h>

#include "base/amounts.h"
#include "report/analyze_html_parts.h"
#include "report/analyze_words.h"
#include "report/html_text.h"
#include "report/report_script.h"

namespace telltale {
namespace html {

std::string section(std::string_view id, std::string_view title, std::string_view caption, std::string_view body) {
  const std::string below = caption.empty() ? std::string() : fmt::format("<p class=\"caption\">{}</p>\n", caption);
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n{2}{3}</section>\n", id,
      title, below, body);
}

std::string key_mark(std::string_view style_class) {
  return fmt::format("<i class=\"key {}\" aria-hidden=\"true\"></i>", style_class);
}

std::string meter(double percent, std::string_view style_class) {
  if (percent <= 0) return {};
  return fmt::format("<span class=\"meter {}\" style=\"width:{}%\"></span>", style_class, html_number(percent));
}

std::string table_of(std::initializer_list<Heading> headings, const std::string& rows, std::string_view style) {
  std::string head;
  for (const Heading& heading : headings) {
    head += fmt::format("<th scope=\"col\"{}>{}</th>", heading.is_number ? " class=\"n\"" : "", heading.text);
  }
  return fmt::format(
      "<div class=\"scroll\"><table class=\"{}\"><thead><tr>{}</tr></thead><tbody>\n{}</tbody></table></div>\n", style,
      head, rows);
}

std::string number_cell(std::string_view text) { return fmt::format("<td class=\"n\">{}</td>", text); }

namespace {

std::string head() {
  // The policy is a second wall: even if a name from a file became markup, the browser would fetch nothing, and run
  // nothing but our own script.
  return fmt::format(R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="telltale">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src '{}'">
)",
                     kReportScriptHash);
}

std::string header(const Diagnosis& diagnosis) {
  const Headline parts = headline(diagnosis);
  std::string text = fmt::format("<header>\n<p class=\"subject\">{}</p>\n<h1>{}</h1>\n",
                                 html_escaped(subject_line(diagnosis)), html_escaped(parts.step));
  if (!parts.filling.empty()) text += fmt::format("<p class=\"lead\">{}</p>\n", html_escaped(parts.filling));
  return text + "</header>\n";
}

std::string footer(const Diagnosis& diagnosis) {
  return fmt::format("<footer>\n<p>Made by telltale analyze from {}: {}, {}. {}</p>\n</footer>\n",
                     html_cut(file_label(diagnosis), 200),
                     counted(static_cast<double>(diagnosis.trace.events), "event"),
                     format_time(diagnosis.trace.duration_ns), html_escaped(remarks_text(diagnosis)));
}

}  // namespace
}  // namespace html

std::string analyze_html(const Diagnosis& diagnosis, const Trace& trace) {
  std::string page = html::head();
  page += fmt::format("<title>{} · telltale</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n",
                      html_cut(file_label(diagnosis), 100), html::style_sheet());
  page += html::header(diagnosis);
  page += html::breakdown_section(diagnosis);
  page += html::latencies_section(diagnosis);
  page += html::threads_section(diagnosis);
  page += html::counters_section(diagnosis);
  page += html::energy_section(diagnosis);
  page += html::findings_section(diagnosis, trace);
  page += html::strip_section(diagnosis, trace);
  page += html::modules_section(diagnosis);
  page += html::kernels_section(diagnosis);
  page += html::memory_section(diagnosis);
  page += html::syncs_section(diagnosis);
  page += html::waits_section(diagnosis);
  page += html::copies_section(diagnosis);
  page += html::communication_section(diagnosis);
  page += html::footer(diagnosis);
  return page + fmt::format("</main>\n<script>{}</script>\n</body>\n</html>\n", kReportScript);
}

}  // namespace telltale
