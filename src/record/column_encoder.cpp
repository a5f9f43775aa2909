#include "record/column_encoder.h"

#include <algorithm>
#include <cstring>

#include "record/pages.h"
#include "record/records.h"
#include "tell/varint.h"

namespace telltale::record {
namespace {

using tell::RecordColumn;
using tell::RecordType;

// No column takes more than twice the bytes of the records it comes from: a word of eight bytes becomes at most ten.
constexpr std::size_t kGrowth = 2;
constexpr std::size_t kHeadBytes = 64;

bool is_on_other_track(RecordType type) { return type >= RecordType::kSpanOnTrack; }

bool has_duration(RecordType type) {
  return type == RecordType::kSpan || type == RecordType::kStep || type == RecordType::kSpanOnTrack;
}

// How long a record is without its values.
std::size_t fixed_bytes(RecordType type) {
  switch (type) {
    case RecordType::kSpan:
      return sizeof(SpanRecord);
    case RecordType::kInstant:
      return sizeof(MarkRecord);
    case RecordType::kCounter:
      return sizeof(CounterRecord);
    case RecordType::kAllocation:
      return sizeof(AllocationRecord);
    case RecordType::kStep:
      return sizeof(StepRecord);
    case RecordType::kFlowStart:
    case RecordType::kFlowStep:
    case RecordType::kFlowEnd:
    case RecordType::kAsyncBegin:
    case RecordType::kAsyncEnd:
      return sizeof(IdRecord);
    case RecordType::kSpanOnTrack:
    case RecordType::kBeginOnTrack:
    case RecordType::kEndOnTrack:
      return sizeof(TrackSpanRecord);
  }
  return sizeof(RecordHead);
}

// All records have their time, or start, in the second word, and their duration, if any, in the third.
std::uint64_t word_at(const unsigned char* record, std::size_t word) {
  return load<std::uint64_t>(record + word * kWordBytes);
}

}  // namespace

bool ColumnEncoder::open(std::size_t range_bytes) {
  const std::size_t column_bytes = kGrowth * range_bytes + kHeadBytes;
  pages_bytes_ = column_bytes * (tell::kRecordColumnCount * 2);
  pages_ = static_cast<unsigned char*>(map_pages(pages_bytes_));
  if (pages_ == nullptr) return false;
  for (std::size_t i = 0; i < tell::kRecordColumnCount; ++i) columns_[i].begin = pages_ + i * column_bytes;
  payload_ = pages_ + tell::kRecordColumnCount * column_bytes;
  return true;
}

void ColumnEncoder::close() {
  unmap_pages(pages_, pages_bytes_);
  pages_ = nullptr;
}

void ColumnEncoder::put(RecordColumn column, std::uint64_t value) {
  unsigned char*& at = columns_[static_cast<std::size_t>(column)].at;
  at = tell::put_varint(at, value);
}

void ColumnEncoder::put_signed(RecordColumn column, std::int64_t value) { put(column, tell::zigzag(value)); }

void ColumnEncoder::put_word(RecordColumn column, const void* word) {
  unsigned char*& at = columns_[static_cast<std::size_t>(column)].at;
  std::memcpy(at, word, kWordBytes);
  at += kWordBytes;
}

void ColumnEncoder::append(const unsigned char* record) {
  const auto head = load<RecordHead>(record);
  *columns_[static_cast<std::size_t>(RecordColumn::kTypes)].at++ = static_cast<unsigned char>(head.type);
  put(RecordColumn::kSites, head.site);
  const std::uint64_t time = word_at(record, 1);
  const bool is_elsewhere = is_on_other_track(head.type);
  std::uint64_t& before = is_elsewhere ? last_track_time_ : last_own_time_;
  put_signed(RecordColumn::kTimes, static_cast<std::int64_t>(time - before));
  before = time;
  std::uint64_t end = time;
  if (has_duration(head.type)) {
    put(RecordColumn::kDurations, word_at(record, 2));
    end += word_at(record, 2);
  }
  if (!is_elsewhere) {
    earliest_ = std::min(earliest_, time);
    latest_ = std::max(latest_, end);
  }
  if (head.type != RecordType::kSpan && head.type != RecordType::kInstant) append_extras(record, head.type);
}

void ColumnEncoder::append_extras(const unsigned char* record, RecordType type) {
  constexpr RecordColumn kExtras = RecordColumn::kExtras;
  switch (type) {
    case RecordType::kCounter:
      put_word(kExtras, record + offsetof(CounterRecord, value));
      break;
    case RecordType::kAllocation: {
      const auto event = load<AllocationRecord>(record);
      put_signed(kExtras, static_cast<std::int64_t>(event.address - last_address_));
      last_address_ = event.address;
      put_signed(kExtras, event.bytes);
      put_signed(kExtras, event.device);
      const bool has_totals = event.total_allocated >= 0 || event.total_reserved >= 0;
      put(kExtras, has_totals ? 1 : 0);
      if (has_totals) {
        put_signed(kExtras, event.total_allocated);
        put_signed(kExtras, event.total_reserved);
      }
      break;
    }
    case RecordType::kStep:
      put_signed(kExtras, load<StepRecord>(record).number);
      break;
    case RecordType::kSpanOnTrack:
    case RecordType::kBeginOnTrack:
    case RecordType::kEndOnTrack: {
      const auto span = load<TrackSpanRecord>(record);
      put(kExtras, span.track);
      if (type != RecordType::kEndOnTrack) put(kExtras, span.correlation);
      break;
    }
    default:
      put(kExtras, load<IdRecord>(record).id);
      break;
  }
}

void ColumnEncoder::append_values(const unsigned char* values, const Site& site, const Names& names) {
  for (std::uint32_t i = 0; i < site.field_count; ++i) {
    const std::uint64_t word = word_at(values, 0);
    values += kWordBytes;
    switch (names.fields()[site.first_field + i].type) {
      case TELLTALE_FIELD_TYPE_FLOAT:
        put_word(RecordColumn::kValues, &word);
        break;
      case TELLTALE_FIELD_TYPE_TEXT: {
        put(RecordColumn::kValues, word);
        unsigned char*& at = columns_[static_cast<std::size_t>(RecordColumn::kValues)].at;
        std::memcpy(at, values, word);
        at += word;
        values += (word + kWordBytes - 1) / kWordBytes * kWordBytes;
        break;
      }
      case TELLTALE_FIELD_TYPE_SHAPE:
        put(RecordColumn::kValues, word);
        for (std::uint64_t dimension = 0; dimension < word; ++dimension, values += kWordBytes)
          put(RecordColumn::kValues, tell::zigzag(static_cast<std::int64_t>(word_at(values, 0))));
        break;
      case TELLTALE_FIELD_TYPE_NAME:
        put(RecordColumn::kValues, word);
        break;
      default:
        put(RecordColumn::kValues, tell::zigzag(static_cast<std::int64_t>(word)));
        break;
    }
  }
}

EncodedRecords ColumnEncoder::encode(RecordRange range, std::uint32_t track, std::uint64_t records_before,
                                     std::uint64_t not_before, const Names& names) {
  for (Column& column : columns_) column.at = column.begin;
  last_own_time_ = last_track_time_ = last_address_ = 0;
  earliest_ = UINT64_MAX;
  latest_ = 0;
  EncodedRecords result;
  for (const unsigned char* record = range.begin; record < range.end;) {
    const auto head = load<RecordHead>(record);
    const std::size_t bytes = head.words * kWordBytes;
    const std::uint64_t end = word_at(record, 1) + (has_duration(head.type) ? word_at(record, 2) : 0);
    if (is_on_other_track(head.type) || end >= not_before) {
      append(record);
      const std::size_t fixed = fixed_bytes(head.type);
      const Site* site = bytes > fixed ? names.site(head.site) : nullptr;
      if (site != nullptr) append_values(record + fixed, *site, names);
      ++result.records;
    }
    record += bytes;
  }
  unsigned char* at = tell::put_varint(payload_, track);
  at = tell::put_varint(at, result.records);
  at = tell::put_varint(at, records_before);
  for (const Column& column : columns_) {
    const auto size = static_cast<std::size_t>(column.at - column.begin);
    at = tell::put_varint(at, size);
    std::memcpy(at, column.begin, size);
    at += size;
  }
  result.payload = payload_;
  result.size = static_cast<std::size_t>(at - payload_);
  result.earliest = earliest_ == UINT64_MAX ? 0 : earliest_;
  result.latest = latest_;
  return result;
}

}  // namespace telltale::record
