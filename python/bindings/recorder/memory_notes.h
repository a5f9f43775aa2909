// What memory holds, as records that docs/formats/tell.md describes: what CUDA's allocator held when a recording began,
// and which tensors stand where.
#pragma once

#include <nanobind/nanobind.h>

namespace telltale::python {

void bind_memory_notes(nanobind::module_& module);

}  // namespace telltale::python
