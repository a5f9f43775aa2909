// A recording as the JSON that torch.profiler exports.
//
// Thread-safe; needs no GIL.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "trace/trace.h"

namespace telltale::python {

struct TorchExport {
  std::vector<std::pair<std::string, std::string>> metadata;  // each value is JSON
  bool names_collections = false;                             // torch's record_python_gc_info
  bool adjusts_steps = false;                                 // torch's adjust_profiler_step
};

// The two options of torch's, on a trace. Collections are called as torch calls them.
void name_collections(Trace& trace);
// A step that ends inside of a Python call which began in it, such as the one that calls step(), begins with that call.
void adjust_steps(Trace& trace);

Result<void> export_as_torch(const std::string& recording, const std::string& path, const TorchExport& wanted);

}  // namespace telltale::python
