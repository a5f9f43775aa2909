#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "advise/device_word.h"
#include "base/amounts.h"
#include "report/activity_words.h"
#include "report/analyze_html_parts.h"
#include "report/analyze_words.h"
#include "report/energy_words.h"
#include "report/html_text.h"
#include "report/palette.h"

namespace telltale::html {
namespace {

// Colors that stand for all work of the device, and for the host's.
std::string device_class() { return style_class(WorkClass::kMatmul); }
std::string host_class() { return style_class(HostDoing{HostWork::kOperators}); }

// Whether a part of the bar is wide enough for its label, on a page of full width.
bool has_room_for_label(const BreakdownPart& row) {
  constexpr double kPercentPerLetter = 0.85, kMargin = 1;
  return row.percent >=
         kMargin + kPercentPerLetter * static_cast<double>(std::max<std::size_t>(label_of(row).size(), 4));
}

std::string bar_of(const std::vector<BreakdownPart>& rows) {
  std::string spoken, parts;
  for (const BreakdownPart& row : rows) {
    const std::string share = format_percent(row.percent);
    const std::string name = (row.is_idle ? "idle: " : "") + std::string(label_of(row));
    spoken += fmt::format("{}{} {}", spoken.empty() ? "" : ", ", name, share);
    const bool is_labeled = has_room_for_label(row);
    parts +=
        fmt::format("<span class=\"{}{}{}\" style=\"flex-grow:{}\" title=\"{} {}, {}\">{}</span>\n", style_class(row),
                    row.is_idle ? " idle" : "", is_labeled ? "" : " narrow", row.ns, name, format_time(row.ns), share,
                    is_labeled ? fmt::format("<b>{}</b>{}", label_of(row), share) : "");
  }
  return fmt::format("<div class=\"bar\" role=\"img\" aria-label=\"{}\">\n{}</div>\n", spoken, parts);
}

std::string meters_of(const std::vector<BreakdownPart>& rows, bool is_idle, double widest) {
  std::string body;
  for (const BreakdownPart& row : rows) {
    if (row.is_idle != is_idle) continue;
    body += fmt::format(
        "<tr><th scope=\"row\">{}{}</th><td class=\"room\">{}</td><td class=\"n\">{}</td><td "
        "class=\"n\">{}</td></tr>\n",
        key_mark(style_class(row)), label_of(row), meter(100 * row.percent / widest, style_class(row)),
        format_time(row.ns), format_percent(row.percent));
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
    const std::string host = meter(percent_of(phase.cpu_ns, widest), host_class());
    const std::string device =
        device_total == 0 ? std::string() : meter(percent_of(phase.device_ns, widest), device_class());
    body += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"room\">{}{}</td><td class=\"n\">{}</td>",
                        name_of(phase.phase), host, device, format_time(phase.cpu_ns));
    body += device_total == 0 ? "</tr>\n" : fmt::format("<td class=\"n\">{}</td></tr>\n", format_time(phase.device_ns));
  }
  const std::string device_head = device_total == 0 ? std::string()
                                                    : fmt::format("<th class=\"n\" scope=\"col\">{}{}</th>",
                                                                  key_mark(device_class()), diagnosis.device_word);
  return fmt::format(
      "<table class=\"meters\"><thead><tr><th scope=\"col\">phase</th><th></th><th class=\"n\" "
      "scope=\"col\">{}host</th>{}"
      "</tr></thead><tbody>\n{}</tbody></table>\n",
      key_mark(host_class()), device_head, body);
}

std::string devices_of(const Diagnosis& diagnosis) {
  if (diagnosis.devices.size() < 2) return {};
  std::string body;
  for (const DeviceUse& device : diagnosis.devices) {
    body += fmt::format(
        "<tr><th scope=\"row\">{} {}</th><td class=\"room\">{}</td><td class=\"n\">{}</td><td "
        "class=\"n\">{}</td></tr>\n",
        diagnosis.device_word, device.id, meter(device.utilization_percent(), device_class()),
        format_time(device.busy_ns), format_percent(device.utilization_percent()));
  }
  return "<table class=\"meters\"><tbody>\n" + body + "</tbody></table>\n";
}

constexpr std::size_t kMostRows = 50;
constexpr std::size_t kLongestName = 80, kLongestText = 160;
std::string row_head(std::string_view name) {
  return fmt::format("<tr><th scope=\"row\">{}</th>", html_cut(name, kLongestName));
}

std::string room(const std::string& meters) { return fmt::format("<td class=\"room\">{}</td>", meters); }

std::string latency_row(const SpanLatency& latency) {
  const LatencyCells cells = latency_cells(latency);
  const std::string waiting = latency.waiting
                                  ? room(meter(latency.waiting->waiting_percent(), style_class(HostWork::kSync)))
                                  : std::string("<td></td>");
  std::string row = row_head(cells.name);
  for (const std::string* cell : {&cells.count, &cells.p50, &cells.p90, &cells.p99, &cells.max})
    row += number_cell(*cell);
  return row + waiting + number_cell(cells.waiting) + "</tr>\n";
}

// How long a request waits, and for what.
std::string waiting_words(const std::vector<SpanLatency>& latencies) {
  const auto known = std::ranges::find_if(latencies, [](const SpanLatency& each) { return each.waiting.has_value(); });
  if (known == latencies.end()) return {};
  const SpanWaiting& waiting = *known->waiting;
  return fmt::format(" {} waits until {} starts: {} (p50), {} (p99). For {} of that time a thread that serves is idle.",
                     html_cut(known->name, kLongestName), html_cut(waiting.served_in, kLongestName),
                     format_time(waiting.p50_ns), format_time(waiting.p99_ns),
                     format_percent(percent_of(waiting.beside_idle_ns, waiting.waiting_ns)));
}

}  // namespace

std::string breakdown_section(const Diagnosis& diagnosis) {
  const std::vector<BreakdownPart> rows = diagnosis.breakdown.parts();
  if (rows.empty() || !diagnosis.is_about_steps) return {};
  const double widest = std::ranges::max(rows, {}, &BreakdownPart::percent).percent;
  const StepBreakdown& breakdown = diagnosis.breakdown;
  const std::string busy = format_percent(breakdown.busy_percent());
  const std::string idle = format_percent(breakdown.idle_percent());
  const std::string the_device = "The " + diagnosis.device_word;
  std::string columns = column(breakdown.has_device ? the_device + " is busy " + busy : "The busiest thread",
                               meters_of(rows, false, widest));
  columns += column(the_device + " waits " + idle + ", by cause", meters_of(rows, true, widest));
  columns += column("By phase, per step", phases_of(diagnosis));
  columns += column(with_device_word("GPUs, busy per step", diagnosis.device_word), devices_of(diagnosis));
  return section("breakdown", "Where the time goes", "Of " + breakdown_caption(diagnosis) + '.',
                 bar_of(rows) + "<div class=\"columns\">\n" + columns + "</div>\n");
}

std::string latencies_section(const Diagnosis& diagnosis) {
  const std::vector<SpanLatency>& latencies = diagnosis.latencies;
  const bool has_requests = !latencies.empty() && latencies.front().is_async;
  if (latencies.empty() || (diagnosis.is_about_steps && !has_requests)) return {};
  std::string rows;
  for (const SpanLatency& latency : latencies | std::views::take(kMostRows)) rows += latency_row(latency);
  const std::string table =
      table_of({{"", false}, {"times"}, {"p50"}, {"p90"}, {"p99"}, {"max"}, {"", false}, {"waits"}}, rows, "kernels");
  return section("latencies", "How long it takes",
                 "Everything that repeats, from start to end." + waiting_words(latencies), table);
}

std::string threads_section(const Diagnosis& diagnosis) {
  const HostActivity& host = diagnosis.host;
  if (host.threads.empty() || diagnosis.breakdown.has_device) return {};
  std::string rows;
  for (const ThreadActivity& thread : host.threads | std::views::take(kMostRows)) {
    const double busy = host.busy_percent(thread);
    rows += row_head(thread.name) + room(meter(busy, device_class())) + number_cell(format_time(thread.busy_ns)) +
            number_cell(format_percent(busy)) +
            fmt::format("<td>{}</td></tr>\n", html_cut(scopes_text(host, thread), kLongestText));
  }
  const std::string caption = fmt::format(
      "Of {}. A thread is busy while it is in something that was recorded; the last column says what, in percent.",
      format_time(host.window_ns));
  return section("threads", "What the threads do", caption,
                 table_of({{"thread", false}, {"", false}, {"busy"}, {"%"}, {"in", false}}, rows, "kernels"));
}

std::string counters_section(const Diagnosis& diagnosis) {
  if (diagnosis.counters.empty()) return {};
  std::string rows;
  for (const CounterSummary& counter : diagnosis.counters | std::views::take(kMostRows)) {
    const CounterCells cells = counter_cells(counter);
    rows += row_head(cells.name) + number_cell(cells.mean) + number_cell(cells.minimum) + number_cell(cells.maximum) +
            number_cell(cells.values) + "</tr>\n";
  }
  return section("counters", "Counters", "Means are over time: a value holds until the next.",
                 table_of({{"counter", false}, {"mean"}, {"least"}, {"most"}, {"values"}}, rows, "kernels"));
}

std::string energy_section(const Diagnosis& diagnosis) {
  std::string lines;
  for (const std::string& sentence : energy_sentences(diagnosis))
    lines += fmt::format("<p>{}</p>\n", html_escaped(sentence));
  return lines.empty() ? lines
                       : section("energy", "Energy and memory", "As gauges of the whole devices tell it.", lines);
}

}  // namespace telltale::html
