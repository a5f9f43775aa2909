#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "base/amounts.h"
#include "report/activity_words.h"
#include "report/analyze_html_parts.h"
#include "report/html_text.h"

namespace telltale::html {
namespace {

constexpr std::size_t kMostRows = 50;
constexpr std::size_t kLongestName = 80, kLongestText = 160;
constexpr std::string_view kWaiting = "h1", kWorking = "w0";  // the colors of synchronization and of matmul

std::string row_head(std::string_view name) {
  return fmt::format("<tr><th scope=\"row\">{}</th>", html_cut(name, kLongestName));
}

std::string room(const std::string& meters) { return fmt::format("<td class=\"room\">{}</td>", meters); }

std::string latency_row(const SpanLatency& latency) {
  const LatencyCells cells = latency_cells(latency);
  const std::string waiting =
      latency.waiting ? room(meter(latency.waiting->waiting_percent(), kWaiting)) : std::string("<td></td>");
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
  return fmt::format(" {} waits until {} begins: {} (p50), {} (p99). For {} of that a thread that serves is idle.",
                     html_cut(known->name, kLongestName), html_cut(waiting.served_in, kLongestName),
                     format_time(waiting.p50_ns), format_time(waiting.p99_ns),
                     format_percent(percent_of(waiting.beside_idle_ns, waiting.waiting_ns)));
}

}  // namespace

std::string latencies_section(const Diagnosis& diagnosis) {
  const std::vector<SpanLatency>& latencies = diagnosis.latencies;
  const bool has_requests = !latencies.empty() && latencies.front().is_async;
  if (latencies.empty() || (diagnosis.is_about_steps && !has_requests)) return {};
  std::string rows;
  for (const SpanLatency& latency : latencies | std::views::take(kMostRows)) rows += latency_row(latency);
  const std::string table =
      table_of({{"", false}, {"times"}, {"p50"}, {"p90"}, {"p99"}, {"max"}, {"", false}, {"waits"}}, rows, "kernels");
  return section("latencies", "How long it takes",
                 "What repeats, from its begin to its end." + waiting_words(latencies), table);
}

std::string threads_section(const Diagnosis& diagnosis) {
  const HostActivity& host = diagnosis.host;
  if (host.threads.empty() || diagnosis.breakdown.has_device) return {};
  std::string rows;
  for (const ThreadActivity& thread : host.threads | std::views::take(kMostRows)) {
    const double busy = host.busy_percent(thread);
    rows += row_head(thread.name) + room(meter(busy, kWorking)) + number_cell(format_time(thread.busy_ns)) +
            number_cell(format_percent(busy)) +
            fmt::format("<td>{}</td></tr>\n", html_cut(scopes_text(host, thread), kLongestText));
  }
  const std::string caption = fmt::format(
      "Of {}. A thread is busy while it is in something that was recorded; behind it, what that was, in percent.",
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

}  // namespace telltale::html
