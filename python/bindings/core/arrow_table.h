// A table whose columns stand in memory as Arrow wants them, be it the trace's memory or the table's own.
//
// Immutable once made, and shared: whoever reads it through Arrow keeps it, and with it the trace, alive.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/core/arrow_abi.h"
#include "trace/columns.h"

namespace telltale::python {

struct ArrowColumn {
  std::string name;
  std::string format;  // Arrow's word for the type, such as "l" for int64
  std::int64_t length = 0;
  std::int64_t null_count = 0;
  bool may_be_null = false;
  // The first is the bitmap of what is not null, possibly absent; what follows depends on the format.
  std::vector<std::shared_ptr<const void>> buffers;
  std::vector<ArrowColumn> children;              // of lists: their elements
  std::shared_ptr<const ArrowColumn> dictionary;  // the texts that this column's numbers stand for, or nothing
  std::string_view text;                          // what it holds, for docs/python.md
  Unit unit = Unit::kNone;
};

struct ArrowTable {
  std::string name;
  std::int64_t rows = 0;
  std::vector<ArrowColumn> columns;
};

// Both are to be released by whoever gets them, on any thread, with or without the GIL.
void export_schema(const std::shared_ptr<const ArrowTable>& table, ArrowSchema& out);
void export_stream(const std::shared_ptr<const ArrowTable>& table, ArrowArrayStream& out);

}  // namespace telltale::python
