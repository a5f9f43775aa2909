// Tables as the capsules of Arrow's PyCapsule interface.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "bindings/core/arrow_table.h"

namespace telltale::python {

nanobind::object schema_capsule(const std::shared_ptr<const ArrowTable>& table);
nanobind::object stream_capsule(const std::shared_ptr<const ArrowTable>& table);

}  // namespace telltale::python
