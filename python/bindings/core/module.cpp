// telltale._core: reads traces, and answers as the command does. What users see of it is python/telltale/_trace.py.
#include <fmt/ranges.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "answers/analyze.h"
#include "answers/held_memory.h"
#include "answers/info.h"
#include "answers/memory_what_if.h"
#include "answers/row_words.h"
#include "answers/suggestion.h"
#include "answers/top.h"
#include "answers/what_if.h"
#include "bindings/core/answers.h"
#include "bindings/core/arrow_capsules.h"
#include "bindings/core/errors.h"
#include "bindings/core/interruptible.h"
#include "bindings/core/loading.h"
#include "bindings/core/torch_module.h"
#include "bindings/core/trace_tables.h"
#include "bindings/gil_released.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace telltale::python {
namespace {

using SharedTable = std::shared_ptr<const ArrowTable>;

// Answers a request while Python's other threads run.
template <typename Views, typename Request>
Answer asked(Result<Views> (*ask)(const Request&), Request request) {
  return value_or_raise(
      interruptibly<Result<Answer>>([ask, request = std::move(request)] { return answered(ask, request); }));
}

SharedTable made(const std::function<ArrowTable()>& make) {
  return std::make_shared<const ArrowTable>(interruptibly<ArrowTable>(make));
}

SharedTable table_named(const LoadedTrace& loaded, const std::string& name) {
  const auto& tables = all_tables();
  const auto table = std::ranges::find(tables, name, &NamedTable::name);
  if (table == tables.end()) {
    std::vector<std::string> known;
    for (const NamedTable& each : tables) known.emplace_back(each.name);
    raise({answers::no_such_word("table", name, known), {}, {}});
  }
  return made([make = table->make, trace = loaded.trace] { return make(trace); });
}

SharedTable events_of(const LoadedTrace& loaded, const std::vector<std::string>& kinds) {
  return made([trace = loaded.trace, chosen = value_or_raise(answers::kinds_named(kinds))] {
    return events_table(trace, chosen);
  });
}

std::vector<std::string_view> table_names() {
  std::vector<std::string_view> names;
  for (const NamedTable& table : all_tables()) names.push_back(table.name);
  return names;
}

std::vector<std::string> column_names(const ArrowTable& table) {
  std::vector<std::string> names;
  for (const ArrowColumn& column : table.columns) names.push_back(column.name);
  return names;
}

void bind_answer(nb::module_& module) {
  nb::class_<Answer>(module, "Answer")
      .def(
          "json", [](const Answer& answer) { return answer.json(); }, nb::call_guard<GilReleased>())
      .def(
          "text", [](const Answer& answer, std::size_t width) { return answer.text(width); }, "width"_a,
          nb::call_guard<GilReleased>())
      .def("page", [](const Answer& answer) { return answer.page(); }, nb::call_guard<GilReleased>());
}

void bind_table(nb::module_& module) {
  nb::class_<ArrowTable>(
      module, "Table",
      "A table of a trace, for whatever takes Arrow's C stream: pandas, polars, pyarrow, DuckDB and others.\n\n"
      "Columns that stand in the trace's memory are handed out without a copy; whoever took them keeps the "
      "trace alive.")
      .def_prop_ro("name", [](const ArrowTable& table) { return table.name; })
      .def_prop_ro("column_names", column_names)
      .def("__len__", [](const ArrowTable& table) { return table.rows; })
      .def("__repr__",
           [](const ArrowTable& table) {
             return fmt::format("<telltale.Table '{}': {} rows of {}>", table.name, table.rows,
                                fmt::join(column_names(table), ", "));
           })
      .def("__arrow_c_schema__", schema_capsule)
      .def(
          "__arrow_c_stream__",
          [](const SharedTable& table, const nb::object& /*requested_schema*/) { return stream_capsule(table); },
          "requested_schema"_a = nb::none());
}

void bind_trace(nb::module_& module) {
  using answers::Spelling;
  nb::class_<LoadedTrace>(module, "Trace")
      .def("info", [](const LoadedTrace& loaded) { return asked(answers::info, answers::InfoRequest{loaded}); })
      .def(
          "top",
          [](const LoadedTrace& loaded, std::optional<std::string> by, std::optional<std::vector<std::string>> kinds,
             std::string group, std::int64_t stack_depth, std::optional<std::string> steps,
             std::optional<std::string> sort, std::optional<std::int64_t> limit) {
            return asked(answers::top, answers::TopRequest{.source = loaded,
                                                           .spelling = Spelling::kKeywords,
                                                           .by = std::move(by),
                                                           .kinds = std::move(kinds),
                                                           .group = std::move(group),
                                                           .stack_depth = stack_depth,
                                                           .steps = std::move(steps),
                                                           .sort = std::move(sort),
                                                           .limit = limit});
          },
          "by"_a = nb::none(), "kinds"_a = nb::none(), "group"_a = "name", "stack_depth"_a = 5, "steps"_a = nb::none(),
          "sort"_a = nb::none(), "limit"_a = nb::none())
      .def(
          "analyze",
          [](const LoadedTrace& loaded, std::optional<std::string> steps, std::vector<std::string> rules,
             double min_saving, std::optional<double> price, std::optional<double> carbon) {
            return asked(answers::analyze, answers::AnalyzeRequest{.source = loaded,
                                                                   .spelling = Spelling::kKeywords,
                                                                   .steps = std::move(steps),
                                                                   .rules = std::move(rules),
                                                                   .min_saving = min_saving,
                                                                   .price = price,
                                                                   .carbon = carbon});
          },
          "steps"_a, "rules"_a, "min_saving"_a, "price"_a = nb::none(), "carbon"_a = nb::none())
      .def(
          "what_if",
          [](const LoadedTrace& loaded, std::vector<std::string> remove, std::vector<std::string> scale, bool no_sync,
             bool instant_data, bool graph, bool no_observer, std::optional<std::string> steps) {
            return asked(answers::what_if, answers::WhatIfRequest{.source = loaded,
                                                                  .spelling = Spelling::kKeywords,
                                                                  .remove = std::move(remove),
                                                                  .scale = std::move(scale),
                                                                  .no_sync = no_sync,
                                                                  .instant_data = instant_data,
                                                                  .graph = graph,
                                                                  .no_observer = no_observer,
                                                                  .steps = std::move(steps)});
          },
          "remove"_a, "scale"_a, "no_sync"_a, "instant_data"_a, "graph"_a, "no_observer"_a, "steps"_a)
      .def("memory_report",
           [](const LoadedTrace& loaded) {
             return asked(answers::held_memory,
                          answers::HeldMemoryRequest{.source = loaded, .spelling = Spelling::kKeywords});
           })
      .def(
          "memory_what_if",
          [](const LoadedTrace& loaded, const std::optional<std::string>& fits, std::optional<std::string> batch,
             std::optional<std::string> settings, std::vector<std::string> without,
             const std::optional<nb::bytes>& other, std::optional<DeviceId> device) {
            answers::MemoryWhatIfRequest request{.source = loaded,
                                                 .spelling = Spelling::kKeywords,
                                                 .batch = std::move(batch),
                                                 .settings = std::move(settings),
                                                 .without = std::move(without),
                                                 .device = device};
            if (fits) request.fits = value_or_raise(answers::parsed_capacity(*fits, request.spelling));
            if (other) request.other = std::string(other->c_str(), other->size());
            return asked(answers::memory_what_if, std::move(request));
          },
          "fits"_a, "batch"_a, "settings"_a, "without"_a, "other"_a, "device"_a)
      .def("table", table_named, "name"_a)
      .def("events", events_of, "kinds"_a);
}

}  // namespace
}  // namespace telltale::python

NB_MODULE(_core, module) {
  using namespace telltale::python;
  bind_answer(module);
  bind_table(module);
  bind_trace(module);
  module.def(
      "load",
      [](const nb::bytes& path, unsigned threads, const nb::object& progress) {
        return load(std::string(path.c_str(), path.size()), threads, progress);
      },
      "path"_a, "threads"_a, "progress"_a = nb::none());
  module.def("table_names", table_names);
  bind_torch(module);
  survive_forks();
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(wait_for_interrupted_work));
}
