// Turns the records in a buffer into the payload of a kRecords chunk: columns, which compress well.
//
// The writer's own; one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "record/names.h"
#include "tell/layout.h"

namespace telltale::record {

struct RecordRange {
  const unsigned char* begin = nullptr;
  const unsigned char* end = nullptr;
};

struct EncodedRecords {
  const unsigned char* payload = nullptr;
  std::size_t size = 0;
  std::uint64_t records = 0;
  std::uint64_t earliest = 0, latest = 0;  // ticks, of those on the thread itself
};

class ColumnEncoder {
 public:
  // For ranges of at most so many bytes. False without memory.
  bool open(std::size_t range_bytes);
  void close();

  // Records that ended before `not_before` (ticks) are left out. The payload lives until the next call.
  EncodedRecords encode(RecordRange range, std::uint32_t track, std::uint64_t records_before, std::uint64_t not_before,
                        const Names& names);

 private:
  void append(const unsigned char* record);
  void append_extras(const unsigned char* record, tell::RecordType type);
  void append_values(const unsigned char* values, const Site& site, const Names& names);
  void put(tell::RecordColumn column, std::uint64_t value);
  void put_signed(tell::RecordColumn column, std::int64_t value);
  void put_word(tell::RecordColumn column, const void* word);

  struct Column {
    unsigned char* begin = nullptr;
    unsigned char* at = nullptr;
  };
  Column columns_[tell::kRecordColumnCount];
  unsigned char* pages_ = nullptr;
  unsigned char* payload_ = nullptr;
  std::size_t pages_bytes_ = 0;
  std::uint64_t last_own_time_ = 0, last_track_time_ = 0, last_address_ = 0;
  std::uint64_t earliest_ = 0, latest_ = 0;
};

}  // namespace telltale::record
