#include <fmt/format.h>

#include <algorithm>

#include "base/amounts.h"
#include "report/analyze_html_parts.h"
#include "report/analyze_words.h"
#include "report/html_text.h"

namespace telltale::html {
namespace {

// Whether a part of the bar is wide enough for its label, on a page of full width.
bool has_room_for_label(const BreakdownRow& row) {
  constexpr double kPercentPerLetter = 0.85, kMargin = 1;
  return row.percent >= kMargin + kPercentPerLetter * static_cast<double>(std::max<std::size_t>(row.label.size(), 4));
}

std::string bar_of(const std::vector<BreakdownRow>& rows) {
  std::string spoken, parts;
  for (const BreakdownRow& row : rows) {
    const std::string share = format_percent(row.percent);
    const std::string name = (row.is_idle ? "idle: " : "") + row.label;
    spoken += fmt::format("{}{} {}", spoken.empty() ? "" : ", ", name, share);
    const bool is_labeled = has_room_for_label(row);
    parts += fmt::format("<span class=\"{}{}{}\" style=\"flex-grow:{}\" title=\"{} {}, {}\">{}</span>\n",
                         row.style_class, row.is_idle ? " idle" : "", is_labeled ? "" : " narrow", row.ns, name,
                         format_time(row.ns), share, is_labeled ? fmt::format("<b>{}</b>{}", row.label, share) : "");
  }
  return fmt::format("<div class=\"bar\" role=\"img\" aria-label=\"{}\">\n{}</div>\n", spoken, parts);
}

std::string meters_of(const std::vector<BreakdownRow>& rows, bool is_idle, double widest) {
  std::string body;
  for (const BreakdownRow& row : rows) {
    if (row.is_idle != is_idle) continue;
    body += fmt::format(
        "<tr><th scope=\"row\">{}{}</th><td class=\"room\">{}</td><td class=\"n\">{}</td><td "
        "class=\"n\">{}</td></tr>\n",
        key_mark(row.style_class), row.label, meter(100 * row.percent / widest, row.style_class), format_time(row.ns),
        format_percent(row.percent));
  }
  return body.empty() ? body : "<table class=\"meters\"><tbody>\n" + body + "</tbody></table>\n";
}

std::string column(std::string_view title, const std::string& body) {
  return body.empty() ? body : fmt::format("<div>\n<h3>{}</h3>\n{}</div>\n", title, body);
}

std::string phases_of(const Diagnosis& diagnosis) {
  Nanoseconds widest = 0, device_total = 0;
  for (const PhaseTime& phase : diagnosis.phases) {
    widest = std::max({widest, phase.cpu_ns, phase.device_ns});
    device_total += phase.device_ns;
  }
  if (widest == 0) return {};
  std::string body;
  for (const PhaseTime& phase : diagnosis.phases) {
    if (phase.cpu_ns == 0 && phase.device_ns == 0) continue;
    const std::string host = meter(percent_of(phase.cpu_ns, widest), "h4");
    const std::string device = device_total == 0 ? std::string() : meter(percent_of(phase.device_ns, widest), "w0");
    body += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"room\">{}{}</td><td class=\"n\">{}</td>",
                        name_of(phase.phase), host, device, format_time(phase.cpu_ns));
    body += device_total == 0 ? "</tr>\n" : fmt::format("<td class=\"n\">{}</td></tr>\n", format_time(phase.device_ns));
  }
  const std::string device_head =
      device_total == 0 ? std::string() : fmt::format("<th class=\"n\" scope=\"col\">{}GPU</th>", key_mark("w0"));
  return fmt::format(
      "<table class=\"meters\"><thead><tr><th scope=\"col\">phase</th><th></th><th class=\"n\" "
      "scope=\"col\">{}host</th>{}"
      "</tr></thead><tbody>\n{}</tbody></table>\n",
      key_mark("h4"), device_head, body);
}

std::string devices_of(const Diagnosis& diagnosis) {
  if (diagnosis.devices.size() < 2) return {};
  std::string body;
  for (const DeviceUse& device : diagnosis.devices) {
    body += fmt::format(
        "<tr><th scope=\"row\">GPU {}</th><td class=\"room\">{}</td><td class=\"n\">{}</td><td "
        "class=\"n\">{}</td></tr>\n",
        device.id, meter(device.utilization_percent(), "w0"), format_time(device.busy_ns),
        format_percent(device.utilization_percent()));
  }
  return "<table class=\"meters\"><tbody>\n" + body + "</tbody></table>\n";
}

}  // namespace

std::string breakdown_section(const Diagnosis& diagnosis) {
  const std::vector<BreakdownRow> rows = breakdown_rows(diagnosis);
  if (rows.empty() || !diagnosis.is_about_steps) return {};
  const double widest = std::ranges::max(rows, {}, &BreakdownRow::percent).percent;
  const StepBreakdown& breakdown = diagnosis.breakdown;
  const std::string busy = format_percent(percent_of(breakdown.busy_total(), breakdown.step));
  const std::string idle = format_percent(percent_of(breakdown.idle_total(), breakdown.step));
  std::string columns =
      column(breakdown.has_device ? "The GPU computes " + busy : "The busiest thread", meters_of(rows, false, widest));
  columns += column("The GPU waits " + idle + ", by cause", meters_of(rows, true, widest));
  columns += column("By phase, a step", phases_of(diagnosis));
  columns += column("GPUs, busy a step", devices_of(diagnosis));
  return section("breakdown", "Where the time goes", "Of " + breakdown_caption(diagnosis) + '.',
                 bar_of(rows) + "<div class=\"columns\">\n" + columns + "</div>\n");
}

}  // namespace telltale::html
