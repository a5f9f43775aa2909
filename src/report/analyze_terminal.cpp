#include "report/analyze_terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <string_view>
#include <vector>

#include "base/amounts.h"
#include "report/activity_words.h"
#include "report/analyze_words.h"
#include "report/energy_words.h"
#include "report/piece_lines.h"
#include "report/text_table.h"
#include "report/text_width.h"

namespace telltale {
namespace {

constexpr std::size_t kWidest = 100;  // longer lines are hard to read, however wide the screen
constexpr std::string_view kIndent = "   ";
constexpr Color kRemoved = color_of(HostWork::kSync);
constexpr Color kAdded = color_of(WorkClass::kNormalization);

std::size_t text_width(const TextStyle& style) { return std::min(style.width, kWidest); }

std::string paragraph(std::string_view text, std::string_view indent, const TextStyle& style) {
  return paragraph_of(printable(text), text_width(style), indent);
}

// How many of `cells` each row gets: by size, so that all cells are given out; the largest remainders get the rest.
std::vector<std::size_t> cells_by_row(const std::vector<BreakdownPart>& rows, std::size_t cells) {
  std::vector<std::size_t> given;
  std::vector<std::pair<double, std::size_t>> remainders;
  std::size_t total = 0;
  for (const BreakdownPart& row : rows) {
    const double exact = std::max(0.0, row.percent) / 100 * static_cast<double>(cells);
    given.push_back(static_cast<std::size_t>(exact));
    remainders.emplace_back(exact - static_cast<double>(given.back()), remainders.size());
    total += given.back();
  }
  std::ranges::sort(remainders, std::ranges::greater{});
  for (std::size_t i = 0; total < cells && i < remainders.size(); ++i, ++total) ++given[remainders[i].second];
  return given;
}

std::string bar_of(const std::vector<BreakdownPart>& rows, const TextStyle& style) {
  const std::vector<std::size_t> cells = cells_by_row(rows, text_width(style) - 4);
  std::string bar = "  ";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string part;
    for (std::size_t cell = 0; cell < cells[i]; ++cell) part += rows[i].is_idle ? "░" : "▇";
    bar += style.colored(part, color_of(rows[i]));
  }
  return bar + '\n';
}

// "matmul 31 · attention 22 · other 7 │ idle 29: launching 18, sync 8, data loading 3", on one line or on one for each
// side of the stroke.
PieceLines labels_of(const Diagnosis& diagnosis, const std::vector<BreakdownPart>& rows, bool is_one_line,
                     const TextStyle& style) {
  constexpr double kLeastPercent = 0.5;
  PieceLines lines(text_width(style) - 2);
  bool is_first_idle = true;
  for (const BreakdownPart& row : rows) {
    if (row.percent < kLeastPercent) continue;
    if (row.is_idle && is_first_idle) {
      const std::string idle = fmt::format("idle {:.0f}:", diagnosis.breakdown.idle_percent());
      if (!is_one_line) lines.break_line();
      lines.add(" │ ", idle, idle);
    }
    const std::string value = fmt::format(" {:.0f}", row.percent);
    const std::string_view separator = !row.is_idle ? " · " : is_first_idle ? " " : ", ";
    const std::string label(label_of(row));
    lines.add(separator, label + value, style.colored(label, color_of(row)) + value);
    is_first_idle = is_first_idle && !row.is_idle;
  }
  return lines;
}

std::string label_lines(const Diagnosis& diagnosis, const std::vector<BreakdownPart>& rows, const TextStyle& style) {
  const PieceLines one_line = labels_of(diagnosis, rows, true, style);
  return one_line.has_broken() ? labels_of(diagnosis, rows, false, style).finished() : one_line.finished();
}

std::string breakdown_of(const Diagnosis& diagnosis, const TextStyle& style) {
  const std::vector<BreakdownPart> rows = diagnosis.breakdown.parts();
  if (rows.empty()) return {};
  return '\n' + bar_of(rows, style) + label_lines(diagnosis, rows, style) +
         style.faint(paragraph("% of " + breakdown_caption(diagnosis), "  ", style));
}

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
  TextTable table;
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

std::string busy_bar(double percent, std::size_t cells, const TextStyle& style) {
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
    if (has_bar) text += busy_bar(busy, kBarWidth, style) + std::string(kGap, ' ');
    text += cut_to_width(scopes_text(host, thread), style.width - taken);
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  const std::string more = more_text(host.threads.size(), "thread");
  return text + faint_line((more.empty() ? "" : more + "; ") + "% of " + format_time(host.window_ns), style);
}

std::string counter_table(const Diagnosis& diagnosis, const TextStyle& style) {
  TextTable table;
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

// Tables that fit the width, each behind an empty line; nothing where there is nothing to show.
std::string activity_text(const Diagnosis& diagnosis, const TextStyle& style) {
  // The allocator is no thread: it has no work of its own.
  const std::string threads = diagnosis.is_of_memory_alone ? std::string() : thread_lines(diagnosis.host, style);
  return latency_table(diagnosis, style) + threads + counter_table(diagnosis, style);
}

// "saves 12.0 ms  25 %  (20 to 28)"
std::string saving_of(const Finding& finding) {
  if (!is_about_time(finding)) return memory_saving_text(finding);
  return fmt::format("saves {}  {}  ({})", format_time(finding.saving.likely),
                     format_percent(finding.saving.likely_percent), saving_range(finding.saving));
}

// The title on the left over as many lines as it takes, the saving to the right of the first.
std::string title_lines(const Finding& finding, std::size_t number, const TextStyle& style) {
  const std::string saving = saving_of(finding);
  const std::size_t width = text_width(style);
  const std::string mark = padded_right(std::to_string(number), kIndent.size());
  const std::size_t taken = display_width(mark) + (saving.empty() ? 0 : display_width(saving) + 2);
  const bool is_beside = taken + 24 <= width;
  const std::size_t room = is_beside ? width - taken : width - kIndent.size();

  std::string text;
  const std::vector<std::string> lines = wrapped_words(printable(finding.title), room);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += (i == 0 ? mark : std::string(kIndent)) + style.bold(lines[i]);
    if (i == 0 && is_beside && !saving.empty()) {
      text += std::string(room - display_width(lines[i]) + 2, ' ') + style.bold(saving);
    }
    text += '\n';
  }
  if (!is_beside) text += std::string(kIndent) + style.bold(saving) + '\n';
  return text;
}

std::string code_lines(std::string_view code, const TextStyle& style) {
  constexpr std::string_view kCodeIndent = "     ";
  std::string text;
  while (!code.empty()) {
    const std::size_t end = std::min(code.find('\n'), code.size());
    const std::string line = printable(code.substr(0, end));
    code.remove_prefix(std::min(end + 1, code.size()));
    // A long line is broken, and goes on under the text it starts with.
    const std::size_t margin = std::min(line.find_first_not_of("+- "), line.size());
    const std::size_t room = text_width(style) - kCodeIndent.size();
    const std::size_t inner = std::max<std::size_t>(room, margin + 20) - margin;
    std::string lead = line.substr(0, margin);
    for (const std::string& piece : wrapped_words(line.substr(margin), inner)) {
      const std::string shown = lead + piece;
      const std::string painted = line.starts_with("- ")   ? style.colored(shown, kRemoved)
                                  : line.starts_with("+ ") ? style.colored(shown, kAdded)
                                                           : shown;
      text.append(kCodeIndent).append(painted).append("\n");
      lead.assign(margin, ' ');
    }
  }
  return text;
}

std::string footer(const Diagnosis& diagnosis, const TextStyle& style) {
  std::string text;
  if (std::ranges::count_if(diagnosis.findings, is_about_time) > 1) text += paragraph(kSavingsOverlap, "", style);
  if (!diagnosis.findings.empty()) {
    std::string rules;
    for (const Finding& finding : diagnosis.findings) rules += (rules.empty() ? "" : ", ") + finding.rule;
    text += paragraph("How each saving is computed: telltale analyze --explain RULE, here " + rules + '.', "", style);
  }
  if (const std::string look = look_text(diagnosis.look); !look.empty()) text += paragraph("Note: " + look, "", style);
  for (const std::string& remark : diagnosis.remarks) text += paragraph("Note: " + remark, "", style);
  return text.empty() ? text : '\n' + style.faint(text);
}

}  // namespace

std::string finding_text(const Finding& finding, std::size_t number, const TextStyle& style) {
  std::string text = '\n' + title_lines(finding, number, style);
  std::string where = finding.source ? source_text(*finding.source) : std::string();
  if (const std::string doubt = doubt_of(finding); !doubt.empty()) where += (where.empty() ? "" : " · ") + doubt;
  if (!where.empty()) text += style.faint(paragraph(where, kIndent, style));
  for (const std::string& part :
       {finding.explanation, parts_text(finding), finding.fix.text, also_explains_text(finding)}) {
    if (!part.empty()) text += paragraph(part, kIndent, style);
  }
  return text + code_lines(finding.fix.code, style);
}

std::string analyze_text(const Diagnosis& diagnosis, const Trace&, const TextStyle& style) {
  std::string text = style.faint(cut_to_width(subject_line(diagnosis), style.width)) + '\n' +
                     style.bold(paragraph(headline_text(diagnosis), "", style)) +
                     (diagnosis.is_about_steps ? breakdown_of(diagnosis, style) : activity_text(diagnosis, style));
  if (const std::string energy = energy_text(diagnosis); !energy.empty()) text += '\n' + paragraph(energy, "", style);
  std::size_t number = 0;
  for (const Finding& finding : diagnosis.findings) text += finding_text(finding, ++number, style);
  if (diagnosis.findings.empty() && diagnosis.is_about_steps)
    text += '\n' + paragraph(nothing_found_text(diagnosis), "", style);
  return text + footer(diagnosis, style);
}

std::string rule_text(const RuleInfo& rule, const TextStyle& style) {
  const std::pair<std::string_view, std::string_view> parts[] = {
      {"Looks for", rule.looks_for}, {"Needs", rule.needs}, {"Saving", rule.saving}, {"How well it held", rule.held}};
  std::string text = style.bold(rule.id) + '\n' + paragraph(rule.title, "", style);
  for (const auto& [label, words] : parts) {
    if (!words.empty()) text += '\n' + style.faint(label) + '\n' + paragraph(words, "  ", style);
  }
  return text;
}

}  // namespace telltale
