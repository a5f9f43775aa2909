// Reads a trace for Python.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "answers/source.h"

namespace telltale::python {

// Its trace is never null.
using LoadedTrace = answers::Source;

// `threads` 0: as many as the machine has. `progress` is called with the share of the file that has been read, from the
// calling thread, or is None. Throws what it raises, telltale.TelltaleError, or KeyboardInterrupt.
LoadedTrace load(const std::string& path, unsigned threads, const nanobind::object& progress);

}  // namespace telltale::python
