// How a record stands in a thread's buffer until the writer encodes it: 8-byte words, the first of which says how many
// follow.
#pragma once

#include <cstdint>
#include <cstring>

#include "tell/layout.h"

namespace telltale::record {

inline constexpr std::size_t kWordBytes = 8;

struct RecordHead {
  std::uint32_t site;  // or, for allocations, the pool's text
  tell::RecordType type;
  std::uint8_t reserved;
  std::uint16_t words;  // of the whole record
};
static_assert(sizeof(RecordHead) == kWordBytes);
inline constexpr std::size_t kMaxRecordWords = UINT16_MAX;

// Each is followed by the values of its site's fields: integers and floats as a word, texts and shapes as a word with
// their size and then their bytes or dimensions, padded to whole words.

struct SpanRecord {
  RecordHead head;
  std::uint64_t start;
  std::uint64_t duration;
};
static_assert(sizeof(SpanRecord) <= 32, "a scope is one store of at most 32 bytes");

struct MarkRecord {  // kInstant
  RecordHead head;
  std::uint64_t time;
};

struct IdRecord {  // flows and async spans
  RecordHead head;
  std::uint64_t time;
  std::uint64_t id;
};

struct CounterRecord {
  RecordHead head;
  std::uint64_t time;
  double value;
};

struct AllocationRecord {
  RecordHead head;
  std::uint64_t time;
  std::uint64_t address;
  std::int64_t bytes;
  std::int64_t device;
  std::int64_t total_allocated;
  std::int64_t total_reserved;
};

struct StepRecord {
  RecordHead head;
  std::uint64_t start;
  std::uint64_t duration;
  std::int64_t number;
};

struct TrackSpanRecord {  // kSpanOnTrack; without a duration kBeginOnTrack, kEndOnTrack
  RecordHead head;
  std::uint64_t start;
  std::uint64_t duration;
  std::uint64_t correlation;
  std::uint64_t track;
};

// Records are written in place as bytes: a buffer has no type of its own.
template <typename Record>
void store(unsigned char* at, const Record& record) {
  std::memcpy(at, &record, sizeof record);
}
template <typename Record>
Record load(const unsigned char* at) {
  Record record;
  std::memcpy(&record, at, sizeof record);
  return record;
}

inline std::uint64_t count_records(const unsigned char* at, const unsigned char* end) {
  std::uint64_t count = 0;
  for (; at < end; ++count) at += load<RecordHead>(at).words * kWordBytes;
  return count;
}

}  // namespace telltale::record
