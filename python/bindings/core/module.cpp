// telltale._core: reads traces, and answers as the command does.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "analysis/trace_info.h"
#include "formats/read_trace.h"
#include "report/json.h"

namespace nb = nanobind;

NB_MODULE(_core, module) {
  module.def("info_json", [](const std::string& path) {
    const auto trace = telltale::read_trace(path);
    if (!trace) throw nb::value_error(telltale::to_string(trace.error()).c_str());
    return telltale::to_json(telltale::trace_info(*trace));
  });
}
