#include "report/top_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analysis/trace_info.h"
#include "base/amounts.h"
#include "report/shown_names.h"
#include "report/text_table.h"
#include "report/text_width.h"

namespace telltale {
namespace {

constexpr std::string_view kAbsent = "–";

// What a column shows, and how soon it goes when the screen is narrow.
struct ColumnChoice {
  std::string_view header;
  SortKey key;
  int dispensability;
  std::string (*cell)(const KeyAverage& row, const KeyAverages& all);  // empty for an absent value
};

std::string cell(std::optional<std::int64_t> value, std::string (*format)(std::int64_t)) {
  return value ? format(*value) : std::string();
}

std::string share(std::optional<Nanoseconds> part, std::optional<Nanoseconds> whole) {
  const auto value = share_of(part, whole);
  return value ? format_share(*value) : std::string();
}

std::string place(const std::optional<SourceLine>& source) {
  return source ? printable(short_place(*source)) : std::string();
}

constexpr ColumnChoice kColumns[] = {
    {"Self GPU", SortKey::kSelfDevice, 0,
     [](const KeyAverage& row, const KeyAverages&) { return cell(row.self_device_ns, format_time); }},
    {"GPU %", SortKey::kName, 3,
     [](const KeyAverage& row, const KeyAverages& all) {
       return share(row.self_device_ns, all.totals.self_device_ns);
     }},
    {"GPU total", SortKey::kDevice, 2,
     [](const KeyAverage& row, const KeyAverages&) { return cell(row.device_ns, format_time); }},
    {"GPU avg", SortKey::kDeviceAverage, 6,
     [](const KeyAverage& row, const KeyAverages&) { return cell(row.device_average_ns(), format_time); }},
    {"Self CPU", SortKey::kSelfCpu, 0,
     [](const KeyAverage& row, const KeyAverages&) { return cell(row.self_cpu_ns, format_time); }},
    {"CPU %", SortKey::kName, 4,
     [](const KeyAverage& row, const KeyAverages& all) { return share(row.self_cpu_ns, all.totals.self_cpu_ns); }},
    {"CPU total", SortKey::kCpu, 1,
     [](const KeyAverage& row, const KeyAverages&) { return cell(row.cpu_ns, format_time); }},
    {"CPU once", SortKey::kCpuOnce, 12,
     [](const KeyAverage& row, const KeyAverages&) { return cell(row.cpu_once_ns, format_time); }},
    {"CPU avg", SortKey::kCpuAverage, 5,
     [](const KeyAverage& row, const KeyAverages&) { return cell(row.cpu_average_ns(), format_time); }},
    {"Self GPU mem", SortKey::kSelfDeviceMemory, 8,
     [](const KeyAverage& row, const KeyAverages&) { return cell(row.self_device_memory_bytes, format_bytes); }},
    {"GPU mem", SortKey::kDeviceMemory, 7,
     [](const KeyAverage& row, const KeyAverages&) { return cell(row.device_memory_bytes, format_bytes); }},
    {"Self CPU mem", SortKey::kSelfCpuMemory, 11,
     [](const KeyAverage& row, const KeyAverages&) { return cell(row.self_cpu_memory_bytes, format_bytes); }},
    {"CPU mem", SortKey::kCpuMemory, 10,
     [](const KeyAverage& row, const KeyAverages&) { return cell(row.cpu_memory_bytes, format_bytes); }},
    {"FLOPs", SortKey::kFlops, 9,
     [](const KeyAverage& row, const KeyAverages&) { return cell(row.flops, format_flops); }},
    {"Calls", SortKey::kCalls, 0,
     [](const KeyAverage& row, const KeyAverages&) { return cell(row.known_calls(), format_count); }},
    {"Where", SortKey::kName, 5, [](const KeyAverage& row, const KeyAverages&) { return place(row.source); }},
};

bool says_nothing(const TextColumn& column, const TextTable& table) {
  const bool is_empty = std::ranges::all_of(
      column.cells, [](const std::string& cell) { return cell == kAbsent || cell.starts_with("0 "); });
  return is_empty || std::ranges::find(table.columns, column.cells, &TextColumn::cells) != table.columns.end();
}

// Columns without values, and those that repeat another, are left out.
void add_columns(TextTable& table, const KeyAverages& averages, SortKey sorted_by) {
  for (const ColumnChoice& choice : kColumns) {
    TextColumn column{std::string(choice.header), {}, choice.dispensability};
    for (const KeyAverage& row : averages.rows) {
      std::string text = choice.cell(row, averages);
      column.cells.push_back(text.empty() ? std::string(kAbsent) : std::move(text));
    }
    if (choice.key == sorted_by && sorted_by != SortKey::kName) {
      table.sorted_column = table.columns.size();
      column.dispensability = 0;
    } else if (says_nothing(column, table)) {
      continue;
    }
    table.columns.push_back(std::move(column));
  }
}

std::string detail(const KeyAverage& row) {
  if (row.input_shapes) return to_string(*row.input_shapes);
  std::string frames;
  if (row.stack) {
    for (const std::string& frame : *row.stack) {
      frames += (frames.empty() ? "" : " ← ") + shortened_names({{Kind::kPython, frame}}).front();
    }
  }
  return frames;
}

std::string footer(const KeyAverages& averages, const TopTableOptions& options, const TextStyle& style) {
  std::string text = fmt::format("Self CPU time total: {}", format_time(averages.totals.self_cpu_ns));
  if (averages.totals.self_device_ns) {
    text += fmt::format("   Self GPU time total: {}", format_time(*averages.totals.self_device_ns));
  }
  text += '\n';
  if (options.rows_left_out > 0) {
    text += style.faint(fmt::format("{}: --limit 0 shows {}.",
                                    counted(static_cast<double>(options.rows_left_out), "more row"),
                                    options.rows_left_out == 1 ? "it" : "them all")) +
            '\n';
  }
  const std::string trouble = anomaly_sentence(averages.lost, averages.repaired);
  if (!trouble.empty()) text += style.faint(trouble) + '\n';
  return text;
}

}  // namespace

std::string top_table(const KeyAverages& averages, const TopTableOptions& options, const TextStyle& style) {
  if (averages.rows.empty()) return "The trace has nothing of this kind (see telltale info).\n";
  TextTable table;
  table.label_header = "Name";
  std::vector<NamedRow> names;
  for (const KeyAverage& row : averages.rows) {
    names.push_back({row.kind, row.name});
    table.details.push_back(detail(row));
  }
  if (options.has_full_names) {
    table.has_whole_labels = true;
    for (const NamedRow& row : names) table.labels.push_back(printable(row.name));
  } else {
    table.labels = shortened_names(names);
    table.fit_labels = fitted_names;
  }
  table.paint_label = [&](std::size_t row, std::string_view text) {
    return style.colored(text, color_of(averages.rows[row].kind));
  };
  add_columns(table, averages, options.sorted_by);
  return render(table, style) + '\n' + footer(averages, options, style);
}

}  // namespace telltale
