#include "report/memory_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "base/amounts.h"
#include "report/analyze_html_parts.h"
#include "report/analyze_words.h"
#include "report/html_text.h"
#include "report/memory_html_parts.h"
#include "report/memory_words.h"

namespace telltale {
namespace html {
namespace {

constexpr std::size_t kMostRows = 20;

// The policy is a second wall: even if a name from a file became markup, the browser would fetch and run nothing.
constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="telltale">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
)";

std::string share_cell(std::int64_t bytes, const DeviceCauses& device) {
  if (device.peak.allocated <= 0) return number_cell("–");
  return number_cell(format_share(static_cast<double>(bytes) / static_cast<double>(device.peak.allocated)));
}

std::string uses_table(const DeviceCauses& device) {
  std::string rows;
  for (const UseBytes& use : device.peak.uses)
    rows += fmt::format("<tr><th scope=\"row\">{}{}</th>{}{}{}</tr>\n", key_mark(style_class(use.use)),
                        words_for(use.use), number_cell(format_bytes(use.bytes)),
                        use.use == MemoryUse::kOutside ? number_cell("–") : share_cell(use.bytes, device),
                        number_cell(use.blocks == 0 ? "–" : format_count(use.blocks)));
  return table_of({{"for", false}, {"bytes"}, {"share"}, {"blocks"}}, rows, "plain");
}

std::string lines_table(const DeviceCauses& device) {
  std::string rows;
  if (!knows_lines(device)) return rows;
  for (const LineBytes& line : device.peak.lines | std::views::take(kMostRows))
    rows += fmt::format("<tr><th scope=\"row\">{}{}</th>{}{}<td>{}</td></tr>\n", key_mark(style_class(line.use)),
                        html_cut(line_text(line), 80), number_cell(format_bytes(line.bytes)),
                        share_cell(line.bytes, device), words_for(line.use));
  return rows.empty() ? rows
                      : table_of({{"made by line", false}, {"bytes"}, {"share"}, {"mostly", false}}, rows, "plain");
}

std::string tensors_table(const DeviceCauses& device) {
  std::string rows;
  for (const PeakTensor& tensor : device.peak.tensors) {
    rows +=
        fmt::format("<tr><th scope=\"row\">{}{}</th>{}<td>{}</td>", key_mark(style_class(tensor.use)),
                    html_cut(maker_text(tensor), 100), number_cell(format_bytes(tensor.bytes)), words_for(tensor.use));
    if (device.has_history) rows += fmt::format("<td>{}</td>", html_cut(last_use_text(tensor), 40));
    rows += "</tr>\n";
  }
  if (rows.empty()) return rows;
  if (!device.has_history) return table_of({{"the largest", false}, {"bytes"}, {"for", false}}, rows, "plain");
  const std::string keepers = tensor_keepers_sentence(device);
  return table_of({{"the largest", false}, {"bytes"}, {"for", false}, {"last used by", false}}, rows, "plain") +
         fmt::format("<p class=\"caption\">{}{}{}</p>\n", html_escaped(kLastUse), keepers.empty() ? "" : " ",
                     html_escaped(keepers));
}

std::string device_sections(const MemoryReport& report, std::size_t number, const std::vector<MappedSegment>& segments,
                            const Trace& trace) {
  const DeviceCauses& device = report.causes.devices[number];
  const std::string id = fmt::format("device{}", number);
  std::string text = section(id, html_escaped(device_label(report, device)),
                             html_escaped(fmt::format("{} {} {}", peak_sentence(report, device),
                                                      peak_place_sentence(device), steps_sentence(device))),
                             stacked_curve(device) + uses_table(device));
  text += section(id + "-lines", device.has_history ? "Who made what stands at the peak" : "Who made what stands there",
                  html_escaped(certainty_sentence(device)), lines_table(device) + tensors_table(device));
  if (const std::string tiles = module_treemap(device); !tiles.empty())
    text += section(id + "-modules", "By module", "As large as what each made; point at one for its name.", tiles);
  if (const std::string map = address_map(segments, trace); !map.empty())
    text +=
        section(id + "-map", "Segments at the peak",
                html_escaped(fmt::format("What PyTorch's allocator holds, by address and as wide as it is large; the "
                                         "gray parts are free. {} {}",
                                         fragmentation_sentence(device), pinning_sentence(device))),
                map);
  return text;
}

std::string leaks_section(const MemoryReport& report, std::string_view id, std::string_view title,
                          const std::vector<const MemoryLeak*>& leaks) {
  std::string items;
  for (const MemoryLeak* const leak : leaks | std::views::take(kMostRows))
    items += fmt::format("<li>{} {}</li>\n", html_escaped(leak_sentence(report, *leak)),
                         html_escaped(keeper_sentence(*leak)));
  return items.empty() ? items : section(id, title, "", "<ul>\n" + items + "</ul>\n");
}

std::string urgent_remarks(const MemoryReport& report) {
  std::string text;
  for (const std::string& remark : report.remarks | std::views::take(report.urgent_remarks))
    text += fmt::format("<p><strong>{}</strong></p>\n", html_escaped(remark));
  return text;
}

std::string fixes_section(const MemoryReport& report) {
  if (report.findings.empty()) return {};
  std::string text;
  for (const Finding& finding : report.findings) {
    text += fmt::format("<h3>{}</h3>\n", html_escaped(finding.title));
    std::string where = memory_saving_text(finding);
    if (finding.source) where += (where.empty() ? "" : " · ") + source_text(*finding.source);
    if (!where.empty()) text += fmt::format("<p class=\"where\">{}</p>\n", html_escaped(where));
    text += fmt::format("<p>{}</p>\n<p>{}</p>\n", html_escaped(finding.explanation), html_escaped(finding.fix.text));
    if (!finding.fix.code.empty()) {
      std::string code;
      for (const auto line : std::views::split(finding.fix.code, '\n'))
        code += html_escaped(std::string_view(line.begin(), line.end())) + '\n';
      text += fmt::format("<pre>{}</pre>\n", code);
    }
  }
  return section("findings", "What would free memory", html_escaped(kSavingsOverlap), text);
}

}  // namespace
}  // namespace html

std::string memory_html(const MemoryReport& report, const std::vector<std::vector<MappedSegment>>& segments,
                        const Trace& trace) {
  std::string page(html::kHead);
  page += fmt::format("<title>{} · memory · telltale</title>\n<style>\n{}{}</style>\n</head>\n<body>\n<main>\n",
                      html_cut(file_label(report.path), 100), html::style_sheet(), html::memory_style_sheet());
  page += fmt::format("<header>\n<p class=\"subject\">{}</p>\n<h1>{}</h1>\n{}</header>\n",
                      html_escaped(memory_subject(report)),
                      html_escaped(peak_sentence(report, report.causes.devices.front())), html::urgent_remarks(report));
  page += html::fixes_section(report) +
          html::leaks_section(report, "leaks", "Grows from step to step", tensor_leaks(report)) +
          html::leaks_section(report, "processes", "Processes that grow", process_leaks(report));
  const std::vector<const DeviceCauses*> shown = shown_devices(report);
  for (std::size_t i = 0; i < report.causes.devices.size(); ++i) {
    if (std::ranges::find(shown, &report.causes.devices[i]) == shown.end()) continue;
    page += html::device_sections(report, i, i < segments.size() ? segments[i] : std::vector<MappedSegment>(), trace);
  }
  std::string notes;
  for (const std::string& remark : report.remarks | std::views::drop(report.urgent_remarks)) notes += ' ' + remark;
  page += fmt::format("<footer>\n<p>Made by telltale memory from {}.{}</p>\n</footer>\n",
                      html_cut(file_label(report.path), 200), html_escaped(notes));
  return page + "</main>\n</body>\n</html>\n";
}

}  // namespace telltale
