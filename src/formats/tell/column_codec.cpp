#include "formats/tell/column_codec.h"

#include "formats/tell/sites.h"

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

ColumnReader::ColumnReader(ByteReader payload, const RowCounts& counts) : counts_(counts) {
  const std::uint64_t count = payload.varint();
  for (std::uint64_t i = 0; i < count && payload.is_good(); ++i) {
    const std::uint64_t size = payload.varint();
    columns_.push_back({payload.bytes(size), 0});
  }
  is_possible_ = payload.is_good();
}

void ColumnReader::words(std::string& value) {
  value = read_text(here().bytes);
  ++at_;
}

void ColumnReader::list(std::vector<std::int64_t>& values) {
  ByteReader& bytes = here().bytes;
  const std::uint64_t count = bytes.varint();
  for (std::uint64_t i = 0; i < count && bytes.is_good(); ++i) values.push_back(bytes.signed_varint());
  ++at_;
}

bool ColumnReader::is_good() const {
  return is_possible_ && missing_.bytes.is_good() &&
         std::ranges::all_of(columns_, [](const Column& column) { return column.bytes.is_good(); });
}

}  // namespace telltale::tell
