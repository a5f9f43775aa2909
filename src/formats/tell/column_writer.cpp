#include "formats/tell/column_writer.h"

namespace telltale::tell {

std::size_t ColumnWriter::bytes() const {
  std::size_t sum = 0;
  for (const Column& column : columns_) sum += column.bytes.size() + kMaxVarintBytes;
  return sum;
}

void ColumnWriter::take(std::string& into) {
  append_varint(into, columns_.size());
  for (Column& column : columns_) {
    append_varint(into, column.bytes.size());
    into += column.bytes;
    column.bytes.clear();
    column.last = 0;
  }
}

}  // namespace telltale::tell
