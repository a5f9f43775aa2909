#include "report/activity_terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "base/amounts.h"
#include "report/activity_words.h"
#include "report/table.h"
#include "report/text_width.h"

namespace telltale {
namespace {

constexpr Color kBusy = color_of(Kind::kAnnotation);

std::vector<std::string> cut_labels(const std::vector<std::string>& labels, std::size_t width) {
  std::vector<std::string> cut;
  for (const std::string& label : labels) cut.push_back(cut_to_width(label, width));
  return cut;
}

std::string faint_line(const std::string& text, const TextStyle& style) {
  return text.empty() ? text : style.faint(cut_to_width(text, style.width)) + '\n';
}

std::string latency_table(const Diagnosis& diagnosis, const TextStyle& style) {
  Table table;
  table.label_header = "Repeats";
  table.columns = {{"Times", {}, 4}, {"p50", {}, 0}, {"p90", {}, 3}, {"p99", {}, 0}, {"Max", {}, 2}, {"Waits", {}, 1}};
  bool has_waiting = false;
  for (const SpanLatency& latency : diagnosis.latencies | std::views::take(kMostActivityRows)) {
    LatencyCells cells = latency_cells(latency);
    has_waiting = has_waiting || !cells.waiting.empty();
    if (cells.waiting.empty()) cells.waiting = "–";
    table.labels.push_back(printable(cells.name));
    std::size_t column = 0;
    for (std::string* cell : {&cells.count, &cells.p50, &cells.p90, &cells.p99, &cells.max, &cells.waiting})
      table.columns[column++].cells.push_back(std::move(*cell));
  }
  if (table.labels.empty()) return {};
  if (!has_waiting) table.columns.pop_back();
  table.fit_labels = cut_labels;
  table.paint_label = [&](std::size_t, std::string_view text) { return style.colored(text, kBusy); };
  return '\n' + render(table, style) + faint_line(more_text(diagnosis.latencies.size(), "name"), style);
}

std::string bar_of(double percent, std::size_t cells, const TextStyle& style) {
  const auto filled = static_cast<std::size_t>(percent / 100 * static_cast<double>(cells) + 0.5);
  std::string busy, idle;
  for (std::size_t cell = 0; cell < cells; ++cell) (cell < filled ? busy : idle) += cell < filled ? "▇" : "░";
  return style.colored(busy, kBusy) + style.faint(idle);
}

// "worker 0     38 %  ▇▇▇▇▇▇▇▇░░░░░░░░░░░░  layer 36 · classify 1"
std::string thread_lines(const HostActivity& host, const TextStyle& style) {
  if (host.threads.empty()) return {};
  constexpr std::size_t kShareWidth = 5, kGap = 2, kBarWidth = 20, kWidestName = 28, kNarrow = 60;
  std::size_t name_width = display_width("Thread");
  const auto shown = host.threads | std::views::take(kMostActivityRows);
  for (const ThreadActivity& thread : shown) name_width = std::max(name_width, display_width(printable(thread.name)));
  name_width = std::min({name_width, kWidestName, style.width / 3});
  const bool has_bar = style.width >= kNarrow;
  const std::size_t taken = name_width + kGap + kShareWidth + kGap + (has_bar ? kBarWidth + kGap : 0);

  std::string text =
      '\n' + style.bold(padded_right("Thread", name_width + kGap) + padded_left("Busy", kShareWidth)) + '\n';
  for (const ThreadActivity& thread : shown) {
    const double busy = host.busy_percent(thread);
    text += padded_right(cut_to_width(printable(thread.name), name_width), name_width + kGap) +
            padded_left(format_percent(busy), kShareWidth) + std::string(kGap, ' ');
    if (has_bar) text += bar_of(busy, kBarWidth, style) + std::string(kGap, ' ');
    text += cut_to_width(scopes_text(host, thread), style.width - taken);
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  const std::string more = more_text(host.threads.size(), "thread");
  return text + faint_line((more.empty() ? "" : more + "; ") + "% of " + format_time(host.window_ns), style);
}

std::string counter_table(const Diagnosis& diagnosis, const TextStyle& style) {
  Table table;
  table.label_header = "Counter";
  table.columns = {{"Mean", {}, 0}, {"Least", {}, 2}, {"Most", {}, 0}, {"Values", {}, 3}};
  for (const CounterSummary& counter : diagnosis.counters | std::views::take(kMostActivityRows)) {
    const CounterCells cells = counter_cells(counter);
    table.labels.push_back(printable(cells.name));
    std::size_t column = 0;
    for (const std::string* cell : {&cells.mean, &cells.minimum, &cells.maximum, &cells.values})
      table.columns[column++].cells.push_back(*cell);
  }
  if (table.labels.empty()) return {};
  table.fit_labels = cut_labels;
  return '\n' + render(table, style) + faint_line(more_text(diagnosis.counters.size(), "counter"), style);
}

}  // namespace

std::string activity_text(const Diagnosis& diagnosis, const TextStyle& style) {
  return latency_table(diagnosis, style) + thread_lines(diagnosis.host, style) + counter_table(diagnosis, style);
}

}  // namespace telltale
