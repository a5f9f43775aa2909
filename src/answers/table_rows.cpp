#include "answers/table_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <expected>
#include <unordered_map>
#include <utility>

#include "advise/device_word.h"
#include "analysis/device_maker.h"
#include "analysis/host_work.h"
#include "analysis/line_times.h"
#include "analysis/work_class.h"
#include "answers/suggestion.h"
#include "answers/top.h"
#include "answers/view_steps.h"
#include "report/shown_names.h"
#include "report/text_width.h"
#include "timeline/idle_times.h"
#include "trace/shapes.h"

namespace telltale::answers {
namespace {

constexpr std::size_t kWidestName = 160;
// What is longer is no name that anybody reads, nor one to look for.
constexpr std::size_t kLongestSearch = 20'000;

template <typename Value>
bool has_any(const std::vector<std::optional<Value>>& cells) {
  return std::ranges::any_of(cells, [](const std::optional<Value>& cell) { return cell.has_value(); });
}
bool has_any(const Texts& cells) {
  return std::ranges::any_of(cells, [](const std::string& cell) { return !cell.empty(); });
}

// Columns that have nothing to say are left out.
void add_column(FullTable& table, TableColumn column) {
  if (table.columns.empty() || std::visit([](const auto& cells) { return has_any(cells); }, column.cells))
    table.columns.push_back(std::move(column));
}

// Where none of these columns is there, the order is that of the names.
void choose_order(FullTable& table, std::initializer_list<std::string_view> ids) {
  const auto is_telling = [&](std::size_t column) {
    const auto* const cells = std::get_if<Wholes>(&table.columns[column].cells);
    return cells != nullptr && std::ranges::any_of(*cells, [](auto cell) { return cell.value_or(0) != 0; });
  };
  for (const std::string_view id : ids) {
    const auto column = table.column_named(id);
    if (!column || !is_telling(*column)) continue;
    table.sorted_by = *column;
    return;
  }
}

void shorten_names(FullTable& table, const std::vector<NamedRow>& rows) {
  table.shown_names = shortened_names(rows);
  for (std::string& name : table.shown_names) name = cut_to_width(name, kWidestName);
}

struct AverageColumn {
  std::string_view id, title;
  CellUnit unit;
  std::string_view text;
  std::optional<std::int64_t> (*value)(const KeyAverage& row);
};

using enum CellUnit;

// Ids are those of telltale.top/1.
constexpr AverageColumn kAverageColumns[] = {
    {"calls", "Calls", kCount, "how often it was called", [](const KeyAverage& row) { return row.known_calls(); }},
    {"self_device_ns", "Self GPU", kNanoseconds, "device work that the calls launched themselves",
     [](const KeyAverage& row) { return row.self_device_ns; }},
    {"device_ns", "GPU total", kNanoseconds, "and that of the calls inside them",
     [](const KeyAverage& row) { return row.device_ns; }},
    {"device_average_ns", "GPU avg", kNanoseconds, "GPU total by call",
     [](const KeyAverage& row) { return row.device_average_ns(); }},
    {"self_cpu_ns", "Self CPU", kNanoseconds, "host time in the calls themselves, without calls inside them",
     [](const KeyAverage& row) { return row.self_cpu_ns; }},
    {"cpu_ns", "CPU total", kNanoseconds,
     "host time with the calls inside them; a call inside another of the same row counts twice, as in torch",
     [](const KeyAverage& row) { return row.cpu_ns; }},
    {"cpu_once_ns", "CPU once", kNanoseconds, "the same with each nanosecond of a thread counted once",
     [](const KeyAverage& row) { return row.cpu_once_ns; }},
    {"cpu_average_ns", "CPU avg", kNanoseconds, "CPU total by call",
     [](const KeyAverage& row) { return row.cpu_average_ns(); }},
    {"self_device_memory_bytes", "Self GPU mem", kBytes, "by how much GPU memory grew, without the calls inside",
     [](const KeyAverage& row) { return row.self_device_memory_bytes; }},
    {"device_memory_bytes", "GPU mem", kBytes, "by how much GPU memory in use grew while the calls ran",
     [](const KeyAverage& row) { return row.device_memory_bytes; }},
    {"self_cpu_memory_bytes", "Self CPU mem", kBytes, "by how much host memory grew, without the calls inside",
     [](const KeyAverage& row) { return row.self_cpu_memory_bytes; }},
    {"cpu_memory_bytes", "CPU mem", kBytes, "by how much host memory in use grew while the calls ran",
     [](const KeyAverage& row) { return row.cpu_memory_bytes; }},
    {"flops", "FLOPs", kFlops, "floating-point operations, by torch's formulas",
     [](const KeyAverage& row) { return row.flops; }},
};

struct ShareColumn {
  std::string_view id, title, text, of;
};
constexpr ShareColumn kDeviceShare = {"self_device_percent", "GPU %", "of all device work", "self_device_ns"};
constexpr ShareColumn kHostShare = {"self_cpu_percent", "CPU %", "of the self time of all rows that torch counts",
                                    "self_cpu_ns"};

std::string stack_text(const std::vector<std::string>& frames) { return fmt::format("{}", fmt::join(frames, "\n")); }

std::string place_text(const SourceLine& source) {
  return source.line > 0 ? fmt::format("{}:{}", source.file, source.line) : source.file;
}

class AveragesTable {
 public:
  AveragesTable(const Trace& trace, KeyAverages averages) : trace_(trace), averages_(std::move(averages)) {}

  FullTable made() {
    add_texts("name", "Name", "what was called", [](const KeyAverage& row) { return row.name; });
    for (const AverageColumn& choice : kAverageColumns) {
      Wholes cells;
      for (const KeyAverage& row : averages_.rows) cells.push_back(choice.value(row));
      add_column(table_, {std::string(choice.id), std::string(choice.title), choice.unit, std::string(choice.text),
                          std::move(cells)});
      if (choice.id == kDeviceShare.of) add_share(kDeviceShare, averages_.totals.self_device_ns, choice);
      if (choice.id == kHostShare.of) add_share(kHostShare, averages_.totals.self_cpu_ns, choice);
    }
    add_texts("input_shapes", "Shapes", "of the inputs",
              [](const KeyAverage& row) { return row.input_shapes ? to_string(*row.input_shapes) : std::string(); });
    add_texts("stack", "Stack", "Python frames, innermost first, one a line",
              [](const KeyAverage& row) { return row.stack ? stack_text(*row.stack) : std::string(); });
    add_texts("source", "Where", "the place in the program",
              [](const KeyAverage& row) { return row.source ? place_text(*row.source) : std::string(); });
    describe_rows();
    choose_order(table_, {"self_device_ns", "self_cpu_ns", "calls"});
    return std::move(table_);
  }

 private:
  void add_texts(std::string id, std::string title, std::string text, std::string (*value)(const KeyAverage&)) {
    Texts cells;
    for (const KeyAverage& row : averages_.rows) cells.push_back(value(row));
    add_column(table_, {std::move(id), std::move(title), kText, std::move(text), std::move(cells)});
  }

  void add_share(const ShareColumn& share, std::optional<Nanoseconds> whole, const AverageColumn& of) {
    Shares cells;
    for (const KeyAverage& row : averages_.rows) {
      const auto part = share_of(of.value(row), whole);
      cells.push_back(part ? std::optional(100 * *part) : std::nullopt);
    }
    add_column(table_,
               {std::string(share.id), std::string(share.title), kPercent, std::string(share.text), std::move(cells)});
  }

  void describe_rows() {
    std::optional<WorkClassifier> classes;
    std::vector<NamedRow> names;
    for (const KeyAverage& row : averages_.rows) {
      names.push_back({row.kind, row.name.substr(0, kLongestSearch)});
      table_.example.push_back(row.example);
      const bool has_class = is_device_work(row.kind) && row.example != kNoEvent;
      if (has_class && !classes) classes.emplace(trace_);
      table_.color.push_back(has_class ? color_index((*classes)(row.example))
                                       : color_index(row.kind, work_of_call(row.kind, names.back().name)));
      // All steps together are one row, whose events have each a name of their own.
      const bool is_exact = row.example != kNoEvent && trace_.name(row.example) == row.name;
      table_.search.push_back(is_exact && row.name.size() <= kLongestSearch ? row.name : std::string());
      std::string searched = row.name;
      if (row.input_shapes) searched += '\n' + to_string(*row.input_shapes);
      if (row.stack) searched += '\n' + stack_text(*row.stack);
      table_.searched.push_back(in_lower_case(searched));
    }
    shorten_names(table_, names);
  }

  const Trace& trace_;
  KeyAverages averages_;
  FullTable table_;
};

Result<FullTable> averages_table(const View& view, const TableKey& key, std::string by) {
  Source source;
  source.path = view.path;
  source.trace = view.trace;
  auto answer = top({.source = std::move(source),
                     .spelling = Spelling::kKeywords,
                     .by = std::move(by),
                     .group = key.group,
                     .steps = key.steps,
                     .sort = "name"});
  if (!answer) return std::unexpected(answer.error());
  return AveragesTable(*view.trace, std::move(answer->averages)).made();
}

template <typename Row, typename Value>
TableColumn column_of(const std::vector<Row>& rows, std::string id, std::string title, CellUnit unit, std::string text,
                      Value value) {
  TableColumn column{std::move(id), std::move(title), unit, std::move(text), {}};
  if (unit == kText) {
    Texts cells;
    for (const Row& row : rows) cells.push_back(fmt::format("{}", value(row)));
    column.cells = std::move(cells);
  } else if constexpr (std::integral<decltype(value(rows.front()))>) {
    Wholes cells;
    for (const Row& row : rows) cells.emplace_back(value(row));
    column.cells = std::move(cells);
  } else if constexpr (std::floating_point<decltype(value(rows.front()))>) {
    Shares cells;
    for (const Row& row : rows) cells.emplace_back(value(row));
    column.cells = std::move(cells);
  }
  return column;
}

// The longest call of each module by its name, which the recorder gives to one module alone.
std::unordered_map<std::string_view, EventId> longest_modules(const Trace& trace) {
  std::unordered_map<std::string_view, EventId> longest;
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (trace.events.kind[event] != Kind::kModule) continue;
    const auto [at, is_new] = longest.try_emplace(trace.name(event), event);
    if (!is_new && trace.events.duration[event] > trace.events.duration[at->second]) at->second = event;
  }
  return longest;
}

// Of these tables too: where nothing runs on a device, columns of zeros have nothing to say.
void leave_out_devices(FullTable& table, const Trace& trace) {
  if (!devices_at_work(trace).empty()) return;
  std::erase_if(table.columns, [](const TableColumn& column) { return column.id.ends_with("device_ns"); });
}

Result<FullTable> module_table(const View& view, const StepsText& steps) {
  const auto analyzed = diagnosis_of(view, steps);
  if (!analyzed) return std::unexpected(analyzed.error());
  const std::vector<ModuleTime>& rows = (*analyzed)->diagnosis.modules;
  FullTable table{.mean_of = (*analyzed)->diagnosis.timing.steps.size()};
  const auto steps_taken = static_cast<double>(table.mean_of);
  const auto add = [&](std::string id, std::string title, CellUnit unit, std::string text, auto value) {
    add_column(table, column_of(rows, std::move(id), std::move(title), unit, std::move(text), value));
  };
  add("path", "Module", kText, "with the modules around it", [](const ModuleTime& row) { return row.path; });
  add("calls", "Calls", kCount, "a step",
      [&](const ModuleTime& row) { return static_cast<double>(row.calls) / steps_taken; });
  add("self_device_ns", "Self GPU", kNanoseconds, "a step, both passes, that no module inside takes",
      [](const ModuleTime& row) { return row.self_device_ns; });
  add("forward_device_ns", "Forward GPU", kNanoseconds, "a step, with the modules inside",
      [](const ModuleTime& row) { return row.forward_device_ns; });
  add("backward_device_ns", "Backward GPU", kNanoseconds, "a step, with the modules inside",
      [](const ModuleTime& row) { return row.backward_device_ns; });
  add("forward_cpu_ns", "Forward CPU", kNanoseconds, "a step, with the modules inside",
      [](const ModuleTime& row) { return row.forward_cpu_ns; });
  add("backward_cpu_ns", "Backward CPU", kNanoseconds, "a step, with the modules inside",
      [](const ModuleTime& row) { return row.backward_cpu_ns; });
  const auto longest = longest_modules(*view.trace);
  for (const ModuleTime& row : rows) {
    auto found = longest.find("nn.Module: " + row.name);
    if (found == longest.end()) found = longest.find(row.name);
    table.example.push_back(found == longest.end() ? kNoEvent : found->second);
    table.search.emplace_back(found == longest.end() ? std::string_view() : found->first.substr(0, kLongestSearch));
    table.color.push_back(color_index(Kind::kModule));
    table.searched.push_back(in_lower_case(row.path));
    table.shown_names.push_back(cut_to_width(printable(row.path), kWidestName));
  }
  leave_out_devices(table, *view.trace);
  choose_order(table, {"self_device_ns", "forward_cpu_ns"});
  return table;
}

Result<FullTable> line_table(const View& view, const StepsText& steps) {
  const auto lines = lines_of(view, steps);
  if (!lines) return std::unexpected(lines.error());
  const std::vector<LineTime>& rows = (*lines)->lines;
  FullTable table{.mean_of = static_cast<std::size_t>((*lines)->steps)};
  const auto steps_taken = static_cast<double>(table.mean_of);
  const auto add = [&](std::string id, std::string title, CellUnit unit, std::string text, auto value) {
    add_column(table, column_of(rows, std::move(id), std::move(title), unit, std::move(text), value));
  };
  add("line", "Line", kText, "the deepest one that is not of a library",
      [](const LineTime& row) { return place_text(row.source); });
  add("function", "Function", kText, "around the line", [](const LineTime& row) { return row.source.function; });
  add("owner", "Code of", kText, "user: the program's own; package: an installed one with models",
      [](const LineTime& row) { return name_of(row.owner); });
  add("calls", "Calls", kCount, "a step: how often a thread came to the line",
      [&](const LineTime& row) { return static_cast<double>(row.calls) / steps_taken; });
  add("device_ns", "GPU", kNanoseconds, "a step: device work that was launched from the line",
      [](const LineTime& row) { return row.device_ns; });
  add("host_ns", "CPU", kNanoseconds, "a step: host time at the line, with what libraries do for it",
      [](const LineTime& row) { return row.host_ns; });
  for (const LineTime& row : rows) {
    table.example.push_back(row.example);
    table.search.emplace_back();
    table.color.push_back(color_index(Kind::kPython));
    table.searched.push_back(in_lower_case(place_text(row.source) + '\n' + row.source.function));
    table.shown_names.push_back(
        cut_to_width(printable(row.source.file.size() > kWidestName ? short_place(row.source) : place_text(row.source)),
                     kWidestName));
  }
  leave_out_devices(table, *view.trace);
  choose_order(table, {"device_ns", "host_ns"});
  return table;
}

// The rest is written for GPUs.
Result<FullTable> in_words_of_devices(Result<FullTable> table, const Trace& trace) {
  if (!table) return table;
  for (TableColumn& column : table->columns) {
    column.title = with_device_word(std::move(column.title), device_word(trace));
    column.text = with_device_word(std::move(column.text), device_word(trace));
  }
  return table;
}

Result<FullTable> table_of_gpus(const View& view, const TableKey& key) {
  if (key.rows == "modules") return module_table(view, key.steps);
  if (key.rows == "lines") return line_table(view, key.steps);
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kRows = {
      {{"operators", "operator"}, {"kernels", "kernel"}, {"annotations", "annotation"}, {"python", "python"}}};
  const auto found = std::ranges::find(kRows, key.rows, &std::pair<std::string_view, std::string_view>::first);
  if (found != kRows.end()) return averages_table(view, key, std::string(found->second));
  return failure(fmt::format(
      "rows cannot be '{}'{}", key.rows,
      suggestion_or_choice(key.rows, {"operators", "kernels", "annotations", "python", "modules", "lines"})));
}

}  // namespace

Result<FullTable> made_table(const View& view, const TableKey& key) {
  return in_words_of_devices(table_of_gpus(view, key), *view.trace);
}

}  // namespace telltale::answers
