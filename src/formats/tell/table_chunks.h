// The chunks of a file of tables, opened and sorted by table, before anything is decoded.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "formats/tell/frames.h"
#include "formats/tell/table_layout.h"
#include "tell/varint.h"
#include "trace/anomalies.h"

namespace telltale::tell {

// A run of rows of one table.
struct TableChunk {
  std::uint64_t offset = 0;  // in the file
  std::uint64_t first = 0, rows = 0;
  ByteReader columns;
};

class TableChunks {
 public:
  // Fails when a chunk is missing or damaged, or when tables have other numbers of rows than the file says.
  static Result<TableChunks> open(const FrameScan& scan, const std::string& path, unsigned threads);

  const std::vector<TableChunk>& of(TableId table) const { return chunks_[static_cast<std::size_t>(table)]; }
  std::size_t rows(TableId table) const { return counts_[static_cast<std::size_t>(table)]; }
  // What numbers of rows may be; text 0 counts, though it is in no chunk.
  const RowCounts& counts() const { return counts_; }
  const Anomalies& anomalies() const { return anomalies_; }

 private:
  Result<void> sort_chunk(const Frame& frame, const Payload& payload, const std::string& path);
  Result<void> check_counts(const std::string& path);

  std::vector<Payload> payloads_;
  std::array<std::vector<TableChunk>, kTableCount> chunks_;
  RowCounts counts_{};
  Anomalies anomalies_;
};

// `offset` is 0 when what is wrong stands at no one place.
std::unexpected<Error> damaged(const std::string& path, std::uint64_t offset);

}  // namespace telltale::tell
