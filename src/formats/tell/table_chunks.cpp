#include "formats/tell/table_chunks.h"

#include "base/parallel.h"
#include "formats/tell/column_codec.h"

namespace telltale::tell {

std::unexpected<Error> damaged(const std::string& path, std::uint64_t offset) {
  return failure("is damaged or was cut off; a trace that was written as a whole is only read as a whole", path,
                 offset == 0 ? std::nullopt : std::optional(offset));
}

Result<TableChunks> TableChunks::open(const FrameScan& scan, const std::string& path, unsigned threads) {
  if (scan.lost_chunks > 0) return damaged(path, scan.first_damage);
  if (scan.was_cut) return damaged(path, scan.cut_offset);
  std::vector<std::optional<Payload>> payloads(scan.frames.size());
  parallel_for(scan.frames.size(), threads, [&](std::size_t i) { payloads[i] = Payload::open(scan.frames[i]); });
  TableChunks chunks;
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    if (!payloads[i]) return damaged(path, scan.frames[i].offset);
    if (const auto sorted = chunks.sort_chunk(scan.frames[i], *payloads[i], path); !sorted)
      return std::unexpected(sorted.error());
    chunks.payloads_.push_back(std::move(*payloads[i]));
  }
  if (const auto checked = chunks.check_counts(path); !checked) return std::unexpected(checked.error());
  return chunks;
}

Result<void> TableChunks::sort_chunk(const Frame& frame, const Payload& payload, const std::string& path) {
  if (frame.kind() == ChunkKind::kIndex) return {};
  ByteReader reader = payload.reader();
  TableChunk chunk{frame.offset, 0, 0, {}};
  const std::uint64_t table = frame.kind() == ChunkKind::kTable ? reader.varint() : kTableCount;
  if (table >= kTableCount) {
    anomalies_.add(Anomaly::kUnknownChunk, frame.offset, "kind " + std::to_string(frame.header.kind));
    return {};
  }
  chunk.first = reader.varint();
  chunk.rows = reader.varint();
  chunk.columns = reader;
  const bool continues = chunk.first == counts_[table];
  if (!reader.is_good() || !continues || !ColumnReader(reader, counts_).has_room_for(chunk.rows))
    return damaged(path, frame.offset);
  counts_[table] += chunk.rows;
  chunks_[table].push_back(chunk);
  return {};
}

Result<void> TableChunks::check_counts(const std::string& path) {
  RowCounts expected{};
  for (const TableChunk& chunk : of(TableId::kRowCounts)) {
    ColumnReader columns(chunk.columns, counts_);
    for (std::uint64_t i = 0; i < chunk.rows; ++i) {
      RowCount row;
      columns.begin_row();
      columns_of(columns, row);
      if (row.table < kTableCount) expected[row.table] = row.rows;
    }
    if (!columns.is_good()) return damaged(path, chunk.offset);
  }
  expected[static_cast<std::size_t>(TableId::kRowCounts)] = rows(TableId::kRowCounts);
  if (counts_ != expected || rows(TableId::kTrace) != 1) return damaged(path, 0);
  if (rows(TableId::kEvents) >= kNoEvent || rows(TableId::kStrings) >= UINT32_MAX)
    return failure("holds more events or texts than we can number (4 thousand million)", path);
  ++counts_[static_cast<std::size_t>(TableId::kStrings)];
  return {};
}

}  // namespace telltale::tell
