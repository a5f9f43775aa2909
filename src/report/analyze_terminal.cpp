#include "report/analyze_terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/amounts.h"
#include "report/activity_terminal.h"
#include "report/analyze_words.h"
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
std::vector<std::size_t> cells_by_row(const std::vector<BreakdownRow>& rows, std::size_t cells) {
  std::vector<std::size_t> given;
  std::vector<std::pair<double, std::size_t>> remainders;
  std::size_t total = 0;
  for (const BreakdownRow& row : rows) {
    const double exact = std::max(0.0, row.percent) / 100 * static_cast<double>(cells);
    given.push_back(static_cast<std::size_t>(exact));
    remainders.emplace_back(exact - static_cast<double>(given.back()), remainders.size());
    total += given.back();
  }
  std::ranges::sort(remainders, std::ranges::greater{});
  for (std::size_t i = 0; total < cells && i < remainders.size(); ++i, ++total) ++given[remainders[i].second];
  return given;
}

std::string bar_of(const std::vector<BreakdownRow>& rows, const TextStyle& style) {
  const std::vector<std::size_t> cells = cells_by_row(rows, text_width(style) - 4);
  std::string bar = "  ";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string part;
    for (std::size_t cell = 0; cell < cells[i]; ++cell) part += rows[i].is_idle ? "░" : "▇";
    bar += style.colored(part, rows[i].color);
  }
  return bar + '\n';
}

// Text that is measured without its colors, and broken only between pieces.
class PieceLines {
 public:
  explicit PieceLines(std::size_t width) : width_(width) {}

  void add(std::string_view separator, std::string_view plain, std::string_view painted) {
    const std::size_t needed = display_width(separator) + display_width(plain) + 1;  // and a comma
    if (columns_ > 0 && columns_ + needed > width_) {
      text_ += separator.starts_with(',') ? "," : "";
      break_line();
    } else if (columns_ > 0) {
      text_ += separator;
      columns_ += display_width(separator);
    }
    text_ += painted;
    columns_ += display_width(plain);
  }

  void break_line() {
    if (columns_ == 0) return;
    text_ += "\n  ";
    columns_ = 0;
    has_broken_ = true;
  }

  bool has_broken() const { return has_broken_; }
  std::string finished() const { return "  " + text_ + '\n'; }

 private:
  std::size_t width_;
  std::size_t columns_ = 0;
  bool has_broken_ = false;
  std::string text_;
};

// "matmul 31 · attention 22 · other 7 │ idle 29: launching 18, sync 8, data loading 3", on one line or on one for each
// side of the stroke.
PieceLines labels_of(const Diagnosis& diagnosis, const std::vector<BreakdownRow>& rows, bool is_one_line,
                     const TextStyle& style) {
  constexpr double kLeastPercent = 0.5;
  PieceLines lines(text_width(style) - 2);
  bool is_first_idle = true;
  for (const BreakdownRow& row : rows) {
    if (row.percent < kLeastPercent) continue;
    if (row.is_idle && is_first_idle) {
      const std::string idle =
          fmt::format("idle {:.0f}:", percent_of(diagnosis.breakdown.idle_total(), diagnosis.breakdown.step));
      if (!is_one_line) lines.break_line();
      lines.add(" │ ", idle, idle);
    }
    const std::string value = fmt::format(" {:.0f}", row.percent);
    const std::string_view separator = !row.is_idle ? " · " : is_first_idle ? " " : ", ";
    lines.add(separator, row.label + value, style.colored(row.label, row.color) + value);
    is_first_idle = is_first_idle && !row.is_idle;
  }
  return lines;
}

std::string label_lines(const Diagnosis& diagnosis, const std::vector<BreakdownRow>& rows, const TextStyle& style) {
  const PieceLines one_line = labels_of(diagnosis, rows, true, style);
  return one_line.has_broken() ? labels_of(diagnosis, rows, false, style).finished() : one_line.finished();
}

std::string breakdown_of(const Diagnosis& diagnosis, const TextStyle& style) {
  const std::vector<BreakdownRow> rows = breakdown_rows(diagnosis);
  if (rows.empty()) return {};
  return '\n' + bar_of(rows, style) + label_lines(diagnosis, rows, style) +
         style.faint(paragraph("% of " + breakdown_caption(diagnosis), "  ", style));
}

// "saves 12.0 ms  25 %  (20 to 28)"
std::string saving_of(const Diagnosis& diagnosis, const Finding& finding) {
  if (!is_about_time(finding)) return {};
  return fmt::format("saves {}  {}  ({})", format_time(finding.saving.likely),
                     format_percent(saving_percent(diagnosis, finding.saving.likely)),
                     saving_range(diagnosis, finding.saving));
}

// The title on the left over as many lines as it takes, the saving to the right of the first.
std::string title_lines(const Diagnosis& diagnosis, const Finding& finding, std::size_t number,
                        const TextStyle& style) {
  const std::string saving = saving_of(diagnosis, finding);
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

std::string finding_lines(const Diagnosis& diagnosis, const Finding& finding, std::size_t number,
                          const TextStyle& style) {
  std::string text = '\n' + title_lines(diagnosis, finding, number, style);
  std::string where = finding.source ? source_text(*finding.source) : std::string();
  if (const std::string doubt = doubt_of(finding); !doubt.empty()) where += (where.empty() ? "" : " · ") + doubt;
  if (!where.empty()) text += style.faint(paragraph(where, kIndent, style));
  for (const std::string& part : {finding.explanation, finding.fix.text, also_explains_text(finding)}) {
    if (!part.empty()) text += paragraph(part, kIndent, style);
  }
  return text + code_lines(finding.fix.code, style);
}

std::string remarks_of(const Diagnosis& diagnosis, const TextStyle& style) {
  std::string text;
  for (const std::string& remark : diagnosis.remarks) text += paragraph("Note: " + remark, "", style);
  return text;
}

std::string footer(const Diagnosis& diagnosis, const Trace& trace, const TextStyle& style) {
  std::string text;
  if (std::ranges::count_if(diagnosis.findings, is_about_time) > 1) text += paragraph(kSavingsOverlap, "", style);
  if (!diagnosis.findings.empty()) {
    std::string rules;
    for (const Finding& finding : diagnosis.findings) rules += (rules.empty() ? "" : ", ") + finding.rule;
    text += paragraph("How a saving is computed: telltale analyze --explain RULE, here " + rules + '.', "", style);
  }
  if (const std::string note = anomaly_note(trace); !note.empty()) text += paragraph(note, "", style);
  return text.empty() ? text : '\n' + style.faint(text);
}

}  // namespace

std::string analyze_text(const Diagnosis& diagnosis, const Trace& trace, const TextStyle& style) {
  std::string text = style.faint(cut_to_width(subject_line(diagnosis), style.width)) + '\n' +
                     style.bold(paragraph(headline_text(diagnosis), "", style)) +
                     (diagnosis.is_about_steps ? breakdown_of(diagnosis, style) : activity_text(diagnosis, style));
  if (const std::string remarks = remarks_of(diagnosis, style); !remarks.empty()) text += '\n' + remarks;
  std::size_t number = 0;
  for (const Finding& finding : diagnosis.findings) text += finding_lines(diagnosis, finding, ++number, style);
  if (diagnosis.findings.empty() && diagnosis.is_about_steps) text += '\n' + paragraph(kNothingFound, "", style);
  return text + footer(diagnosis, trace, style);
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
