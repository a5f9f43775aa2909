#include "bindings/core/trace_tables.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "bindings/core/described_columns.h"
#include "trace/shapes.h"

namespace telltale::python {
namespace {

ArrowTable all_events(const SharedTrace& trace) { return events_table(trace); }

ArrowColumn step_column(const Trace& trace, const std::vector<EventId>& events) {
  ArrowColumn column = numbers("step", events.size(), [&](std::size_t i) -> std::optional<std::int64_t> {
    const StepId step = trace.step_of(events[i]);
    return step == kNoStep ? std::nullopt : std::optional(trace.steps[static_cast<std::size_t>(step)].index);
  });
  return described(std::move(column), {.text = "the step it belongs to; device work counts where it was launched"});
}

// The number of each row, by which other tables refer to it.
ArrowColumn row_numbers(std::string_view name, std::size_t rows) {
  ArrowColumn column = numbers(std::string(name), rows, [](std::size_t i) { return static_cast<std::uint32_t>(i); });
  return described(std::move(column), {.text = "its number, which other tables refer to"});
}

// A row for each tensor with dimensions that an operator was given.
ArrowTable tensors_table(const SharedTrace& trace) {
  const auto& operators = trace->operators;
  // Equal inputs are stored once, and read once.
  struct Inputs {
    std::vector<Shape> shapes;
    std::vector<std::string> types;
  };
  std::vector<Inputs> all;
  for (const OperatorInputs& each : trace->operator_inputs)
    all.push_back({tensor_shapes(trace->strings[each.shapes]), concrete_values(trace->strings[each.types])});

  std::vector<EventId> events;
  std::vector<std::int32_t> arguments;
  std::vector<std::int64_t> offsets = {0}, sizes;
  std::vector<std::string_view> types;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    if (operators.row(i).inputs == OperatorInfo::kNoInputs) continue;
    const Inputs& inputs = all[operators.row(i).inputs];
    for (std::size_t argument = 0; argument < inputs.shapes.size(); ++argument) {
      const Shape& shape = inputs.shapes[argument];
      if (shape.empty()) continue;  // no tensor, or one without dimensions, which recorders do not tell apart
      events.push_back(operators.event(i));
      arguments.push_back(static_cast<std::int32_t>(argument));
      sizes.insert(sizes.end(), shape.begin(), shape.end());
      offsets.push_back(static_cast<std::int64_t>(sizes.size()));
      types.push_back(argument < inputs.types.size() ? std::string_view(inputs.types[argument]) : std::string_view());
    }
  }
  const std::size_t rows = events.size();
  ArrowColumn type = with_nulls(texts("type", types), [&](std::size_t i) { return types[i].empty(); });
  return table_of("tensors", rows,
                  {described(column_of("event", std::move(events)), {.text = "the operator"}),
                   described(column_of("argument", std::move(arguments)), {.text = "which one, from 0 on"}),
                   described(number_lists("shape", std::move(offsets), std::move(sizes)), {.text = "its dimensions"}),
                   described(std::move(type), {.text = "of its elements, as torch calls it"})});
}

ArrowTable memory_table(const SharedTrace& trace) {
  return table_of("memory", trace->memory.size(), columns_of_table(trace, trace->memory));
}

// Values, each with what its series says.
ArrowTable counters_table(const SharedTrace& trace) {
  const Counters& counters = trace->counters;
  std::vector<const CounterSeries*> series(counters.size());
  for (const CounterSeries& each : counters.series) std::fill_n(series.begin() + each.first, each.count, &each);
  std::vector<ArrowColumn> columns = columns_of_table(trace, counters);
  const auto series_of = [&](std::size_t i) { return series[i]; };
  std::ranges::move(columns_of_rows(*trace, series.size(), series_of, RowOf<CounterSeries>{}),
                    std::back_inserter(columns));
  return table_of("counters", counters.size(), std::move(columns));
}

template <typename Row, typename Described>
ArrowTable side_table(const TableInfo& info, const Trace& trace, const SideTable<Row>& table,
                      RowOf<Described> description) {
  ArrowColumn events = numbers("event", table.size(), [&](std::size_t i) { return table.event(i); });
  std::vector<ArrowColumn> columns;
  columns.push_back(described(std::move(events), {.text = "which this is about"}));
  const auto row_at = [&](std::size_t i) { return &table.row(i); };
  std::ranges::move(columns_of_rows(trace, table.size(), row_at, description), std::back_inserter(columns));
  return table_of(std::string(info.name), table.size(), std::move(columns));
}

template <typename Row>
ArrowTable list_table(const TableInfo& info, const Trace& trace, const std::vector<Row>& rows) {
  std::vector<ArrowColumn> columns;
  if (!info.row_name.empty()) columns.push_back(row_numbers(info.row_name, rows.size()));
  const auto row_at = [&](std::size_t i) { return &rows[i]; };
  std::ranges::move(columns_of_rows(trace, rows.size(), row_at, RowOf<Row>{}), std::back_inserter(columns));
  return table_of(std::string(info.name), rows.size(), std::move(columns));
}

std::vector<NamedTable> tables_of_a_trace() {
  std::vector<NamedTable> tables = {{"events", "What happened, in the order of tracks and time.", all_events}};
  for_each_side_table([&](const TableInfo& info, auto table_of, auto description) {
    tables.push_back({info.name, info.text, [=](const SharedTrace& trace) {
                        return side_table(info, *trace, table_of(*trace), description);
                      }});
    if (info.name == "operators")
      tables.push_back({"tensors", "A row for each tensor with dimensions that an operator was given.", tensors_table});
  });
  tables.push_back({"memory", "Allocations and frees, by time.", memory_table});
  tables.push_back({"counters", "Values of counters, by series and time.", counters_table});
  for_each_list([&]<typename Row>(const TableInfo& info, auto rows_in, RowOf<Row>) {
    if constexpr (!SharedRow<Row> && !std::same_as<Row, CounterSeries>)
      tables.push_back(
          {info.name, info.text, [=](const SharedTrace& trace) { return list_table(info, *trace, rows_in(*trace)); }});
  });
  return tables;
}

}  // namespace

ArrowTable events_table(const SharedTrace& trace, const std::optional<KindSet>& kinds) {
  const Events& all = trace->events;
  std::vector<EventId> events;
  if (kinds) {
    for (EventId event = 0; event < all.size(); ++event)
      if (kinds->contains(all.kind[event])) events.push_back(event);
  } else {
    events.resize(all.size());
    std::iota(events.begin(), events.end(), EventId{0});
  }
  std::vector<ArrowColumn> columns = columns_of_table(trace, all, kinds ? &events : nullptr);
  columns.push_back(step_column(*trace, events));
  const std::size_t rows = events.size();
  ArrowColumn numbered = column_of("event", std::move(events));
  columns.insert(columns.begin(),
                 described(std::move(numbered), {.text = "its number, which the other tables refer to"}));
  return table_of("events", rows, std::move(columns));
}

const std::vector<NamedTable>& all_tables() {
  static const std::vector<NamedTable> kTables = tables_of_a_trace();
  return kTables;
}

}  // namespace telltale::python
