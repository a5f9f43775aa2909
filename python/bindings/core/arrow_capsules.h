// Tables as the capsules of Arrow's PyCapsule interface.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "bindings/core/table.h"

namespace telltale::python {

nanobind::object schema_capsule(const std::shared_ptr<const Table>& table);
nanobind::object stream_capsule(const std::shared_ptr<const Table>& table);

}  // namespace telltale::python
