// What telltale.torch asks the core for: torch's rows, torch's events, and Kineto's JSON.
#pragma once

#include <nanobind/nanobind.h>

namespace telltale::python {

void bind_torch(nanobind::module_& module);

}  // namespace telltale::python
