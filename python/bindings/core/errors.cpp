#include "bindings/core/errors.h"

#include <nanobind/nanobind.h>

#include "base/text_encoding.h"

namespace telltale::python {

namespace nb = nanobind;

void raise(const Error& error) {
  const nb::object type = nb::module_::import_("telltale._errors").attr("TelltaleError");
  // Names of files may be no UTF-8, and are then as the operating system's own functions in Python have them.
  const nb::object path =
      error.file.empty() ? nb::none()
                         : nb::module_::import_("os").attr("fsdecode")(nb::bytes(error.file.data(), error.file.size()));
  const nb::object exception = type(repaired_utf8(to_string(error)).c_str(), path);
  PyErr_SetObject(type.ptr(), exception.ptr());
  throw nb::python_error();
}

}  // namespace telltale::python
