#include "report/memory_terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <ranges>
#include <utility>

#include "base/amounts.h"
#include "report/analyze_terminal.h"
#include "report/memory_words.h"
#include "report/piece_lines.h"
#include "report/text_table.h"
#include "report/text_width.h"

namespace telltale {
namespace {

constexpr std::size_t kWidest = 100;  // longer lines are hard to read, however wide the screen
constexpr std::size_t kMostRows = 10, kMostLeaks = 5;

std::size_t text_width(const TextStyle& style) { return std::min(style.width, kWidest); }

std::string sentence(std::string_view text, const TextStyle& style) {
  return text.empty() ? std::string() : paragraph_of(text, text_width(style));
}

double share(std::int64_t bytes, const DeviceCauses& device) {
  return device.peak.allocated <= 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(device.peak.allocated);
}

std::string bar_of(const DeviceCauses& device, const TextStyle& style) {
  const std::size_t cells = text_width(style) - 4;
  std::string bar = "  ";
  double sum = 0;
  std::size_t drawn = 0;
  for (const UseBytes& use : device.peak.uses) {
    if (use.use == MemoryUse::kOutside) continue;
    sum += share(use.bytes, device);
    std::string part;
    for (; drawn < cells && static_cast<double>(drawn) + 0.5 < sum * static_cast<double>(cells); ++drawn) part += "▇";
    bar += style.colored(part, color_of(use.use));
  }
  return bar + '\n';
}

// "activations 60 · before 40", in the order and the colors of the bar.
std::string bar_labels(const DeviceCauses& device, const TextStyle& style) {
  constexpr double kLeastShare = 0.005;
  PieceLines lines(text_width(style) - 2);
  bool is_empty = true;
  for (const UseBytes& use : device.peak.uses) {
    if (use.use == MemoryUse::kOutside || share(use.bytes, device) < kLeastShare) continue;
    const std::string label(short_words_for(use.use)), value = fmt::format(" {:.0f}", 100 * share(use.bytes, device));
    lines.add(" · ", label + value, style.colored(label, color_of(use.use)) + value);
    is_empty = false;
  }
  const std::string caption = fmt::format("  % of {}\n", format_bytes(device.peak.allocated));
  return is_empty ? std::string() : lines.finished() + style.faint(caption);
}

std::vector<std::string> cut_labels(const std::vector<std::string>& labels, std::size_t width) {
  std::vector<std::string> cut;
  for (const std::string& label : labels) cut.push_back(cut_to_width(label, width));
  return cut;
}

TextTable table_of(std::string header) {
  TextTable table;
  table.label_header = std::move(header);
  table.fit_labels = cut_labels;
  return table;
}

std::string uses_table(const DeviceCauses& device, const TextStyle& style) {
  if (device.peak.uses.empty()) return {};
  TextTable table = table_of(std::string(peak_heading(device)));
  table.columns = {{"Bytes", {}, 0}, {"Share", {}, 1}, {"Blocks", {}, 2}};
  for (const UseBytes& use : device.peak.uses) {
    table.labels.emplace_back(words_for(use.use));
    table.columns[0].cells.push_back(format_bytes(use.bytes));
    table.columns[1].cells.push_back(use.use == MemoryUse::kOutside ? "–" : format_share(share(use.bytes, device)));
    table.columns[2].cells.push_back(use.blocks == 0 ? "–" : format_count(use.blocks));
  }
  table.paint_label = [&](std::size_t row, std::string_view text) {
    return style.colored(text, color_of(device.peak.uses[row].use));
  };
  return '\n' + render(table, style);
}

std::string lines_table(const DeviceCauses& device, const TextStyle& style) {
  TextTable table = table_of("Made by line");
  table.columns = {{"Bytes", {}, 0}, {"Share", {}, 1}, {"Mostly", {}, 2}};
  for (const LineBytes& line : device.peak.lines | std::views::take(kMostRows)) {
    table.labels.push_back(line_text(line));
    table.columns[0].cells.push_back(format_bytes(line.bytes));
    table.columns[1].cells.push_back(format_share(share(line.bytes, device)));
    table.columns[2].cells.emplace_back(short_words_for(line.use));
  }
  return knows_lines(device) ? '\n' + render(table, style) : std::string();
}

std::string modules_table(const DeviceCauses& device, const TextStyle& style) {
  const auto& modules = device.peak.modules;
  if (modules.empty() || (modules.size() == 1 && modules.front().name.empty())) return {};
  TextTable table = table_of("Made in module");
  table.columns = {{"Bytes", {}, 0}, {"Share", {}, 1}, {"Blocks", {}, 2}};
  for (const NamedBytes& module : modules | std::views::take(kMostRows)) {
    table.labels.push_back(module.name.empty() ? "outside of modules" : printable(module.name));
    table.columns[0].cells.push_back(format_bytes(module.bytes));
    table.columns[1].cells.push_back(format_share(share(module.bytes, device)));
    table.columns[2].cells.push_back(format_count(module.blocks));
  }
  return '\n' + render(table, style);
}

std::string tensors_table(const DeviceCauses& device, const TextStyle& style) {
  TextTable table = table_of("Largest");
  table.columns = {{"Bytes", {}, 0}, {"For", {}, 1}, {"Last used by", {}, 2}};
  for (const PeakTensor& tensor : device.peak.tensors) {
    table.labels.push_back(maker_text(tensor));
    table.columns[0].cells.push_back(format_bytes(tensor.bytes));
    table.columns[1].cells.emplace_back(short_words_for(tensor.use));
    table.columns[2].cells.push_back(cut_to_width(last_use_text(tensor), 24));
  }
  if (table.labels.empty()) return {};
  if (!device.has_history) table.columns.pop_back();
  const std::string rows = render(table, style);
  // A narrow screen has no room for that column.
  const bool tells_last_use = device.has_history && rows.contains(table.columns.back().header);
  return '\n' + rows + (tells_last_use ? style.faint(sentence(kLastUse, style)) : std::string()) +
         sentence(tensor_keepers_sentence(device), style);
}

std::string device_text(const MemoryReport& report, const DeviceCauses& device, const TextStyle& style) {
  std::string text = style.bold(sentence(peak_sentence(report, device), style)) +
                     sentence(peak_place_sentence(device), style) + '\n' + bar_of(device, style) +
                     bar_labels(device, style) + uses_table(device, style) + lines_table(device, style) +
                     modules_table(device, style) + tensors_table(device, style);
  if (const std::string steps = steps_sentence(device); !steps.empty()) text += '\n' + sentence(steps, style);
  text += sentence(fragmentation_sentence(device), style) + sentence(pinning_sentence(device), style);
  return text + style.faint(sentence(certainty_sentence(device), style));
}

std::string leaks_text(const MemoryReport& report, std::string_view title, const std::vector<const MemoryLeak*>& leaks,
                       const TextStyle& style) {
  if (leaks.empty()) return {};
  std::string text = '\n' + style.bold(title) + '\n';
  for (const MemoryLeak* const leak : leaks | std::views::take(kMostLeaks))
    text += sentence(leak_sentence(report, *leak), style) + sentence(keeper_sentence(*leak), style);
  if (leaks.size() > kMostLeaks)
    text += style.faint(sentence(fmt::format("and {} more", leaks.size() - kMostLeaks), style));
  return text;
}

}  // namespace

std::string memory_text(const MemoryReport& report, const TextStyle& style) {
  std::string text = style.faint(cut_to_width(memory_subject(report), style.width)).append("\n");
  for (const std::string& remark : report.remarks | std::views::take(report.urgent_remarks))
    text += style.bold(sentence(remark, style));
  if (report.urgent_remarks > 0) text += '\n';
  bool is_first = true;
  for (const DeviceCauses* const device : shown_devices(report)) {
    text.append(is_first ? "" : "\n").append(device_text(report, *device, style));
    is_first = false;
  }
  text += leaks_text(report, "Grows from step to step", tensor_leaks(report), style);
  text += leaks_text(report, "Processes that grow", process_leaks(report), style);
  std::size_t number = 0;
  for (const Finding& finding : report.findings) text += finding_text(finding, ++number, style);
  std::string notes;
  for (const std::string& remark : report.remarks | std::views::drop(report.urgent_remarks))
    notes += sentence("Note: " + remark, style);
  return notes.empty() ? text : text + '\n' + style.faint(notes);
}

}  // namespace telltale
