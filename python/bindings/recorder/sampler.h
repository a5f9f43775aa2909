// A thread that looks, some hundred times a second, at what all Python threads are doing: their stacks, and what those
// that do not run wait for. It takes the GIL only for code that it has not met before.
#pragma once

#include <nanobind/nanobind.h>

namespace telltale::python {

void bind_sampler(nanobind::module_& module);

}  // namespace telltale::python
