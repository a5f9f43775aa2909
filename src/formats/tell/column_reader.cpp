#include "formats/tell/column_reader.h"

#include <algorithm>
#include <string_view>

#include "formats/tell/sites.h"

namespace telltale::tell {

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
