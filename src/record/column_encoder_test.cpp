#include "record/column_encoder.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "record/records.h"
#include "tell/varint.h"

namespace telltale::record {
namespace {

using tell::ByteReader;
using tell::RecordType;

class ColumnEncoderTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(encoder_.open(4096)); }
  void TearDown() override { encoder_.close(); }

  template <typename Record>
  void add(RecordType type, std::uint32_t site, Record record, const std::vector<std::uint64_t>& values = {}) {
    record.head = {site, type, 0, static_cast<std::uint16_t>(sizeof(Record) / kWordBytes + values.size())};
    const auto* bytes = reinterpret_cast<const unsigned char*>(&record);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof(Record));
    for (const std::uint64_t value : values) {
      const auto* word = reinterpret_cast<const unsigned char*>(&value);
      bytes_.insert(bytes_.end(), word, word + sizeof value);
    }
  }

  // Encodes what was added, and takes the payload apart as the document says.
  EncodedRecords encode(std::uint64_t not_before = 0) {
    const EncodedRecords result =
        encoder_.encode({bytes_.data(), bytes_.data() + bytes_.size()}, 7, 100, not_before, *names_);
    ByteReader reader(result.payload, result.payload + result.size);
    EXPECT_EQ(reader.varint(), 7u);
    EXPECT_EQ(reader.varint(), result.records);
    EXPECT_EQ(reader.varint(), 100u);
    for (ByteReader& column : columns_) column = reader.bytes(reader.varint());
    EXPECT_TRUE(reader.is_good());
    EXPECT_TRUE(reader.is_at_end());
    return result;
  }
  ByteReader& column(tell::RecordColumn which) { return columns_[static_cast<std::size_t>(which)]; }

  Losses losses_;
  MemoryBudget budget_;
  std::unique_ptr<Names> names_ = std::make_unique<Names>(losses_, budget_);
  ColumnEncoder encoder_;
  std::vector<unsigned char> bytes_;
  ByteReader columns_[tell::kRecordColumnCount];
};

TEST_F(ColumnEncoderTest, writes_spans_as_differences) {
  add(RecordType::kSpan, 1, SpanRecord{{}, 1000, 50});
  add(RecordType::kSpan, 2, SpanRecord{{}, 900, 200});
  const EncodedRecords result = encode();
  EXPECT_EQ(result.records, 2u);
  EXPECT_EQ(result.earliest, 900u);
  EXPECT_EQ(result.latest, 1100u);
  EXPECT_EQ(column(tell::RecordColumn::kSites).varint(), 1u);
  EXPECT_EQ(column(tell::RecordColumn::kSites).varint(), 2u);
  EXPECT_EQ(column(tell::RecordColumn::kTimes).signed_varint(), 1000);
  EXPECT_EQ(column(tell::RecordColumn::kTimes).signed_varint(), -100);
  EXPECT_EQ(column(tell::RecordColumn::kDurations).varint(), 50u);
  EXPECT_EQ(column(tell::RecordColumn::kDurations).varint(), 200u);
  EXPECT_TRUE(column(tell::RecordColumn::kExtras).is_at_end());
}

TEST_F(ColumnEncoderTest, keeps_times_of_other_tracks_apart) {
  add(RecordType::kInstant, 1, MarkRecord{{}, 1000});
  add(RecordType::kSpanOnTrack, 1, TrackSpanRecord{{}, 5'000'000, 10, 42, 3});
  add(RecordType::kInstant, 1, MarkRecord{{}, 1001});
  add(RecordType::kEndOnTrack, 0, TrackSpanRecord{{}, 5'000'007, 0, 0, 3});
  const EncodedRecords result = encode();
  EXPECT_EQ(result.latest, 1001u);
  for (const std::int64_t difference : {1000, 5'000'000, 1, 7})
    EXPECT_EQ(column(tell::RecordColumn::kTimes).signed_varint(), difference);
  for (const std::uint64_t extra : {3, 42, 3}) EXPECT_EQ(column(tell::RecordColumn::kExtras).varint(), extra);
  EXPECT_TRUE(column(tell::RecordColumn::kExtras).is_at_end());
}

TEST_F(ColumnEncoderTest, writes_what_each_type_has_beyond_its_time) {
  add(RecordType::kCounter, 1, CounterRecord{{}, 1, 2.5});
  add(RecordType::kAllocation, 4, AllocationRecord{{}, 2, 0x1000, 64, -1, -1, -1});
  add(RecordType::kAllocation, 4, AllocationRecord{{}, 3, 0x0F00, -64, 0, 128, 256});
  add(RecordType::kFlowStart, 1, IdRecord{{}, 4, 99});
  add(RecordType::kStep, 0, StepRecord{{}, 5, 6, 12});
  encode();
  ByteReader& extras = column(tell::RecordColumn::kExtras);
  EXPECT_EQ(extras.float64(), 2.5);
  for (const std::int64_t value : {0x1000, 64, -1}) EXPECT_EQ(extras.signed_varint(), value);
  EXPECT_EQ(extras.varint(), 0u);
  for (const std::int64_t value : {-0x100, -64, 0}) EXPECT_EQ(extras.signed_varint(), value);
  EXPECT_EQ(extras.varint(), 1u);
  EXPECT_EQ(extras.signed_varint(), 128);
  EXPECT_EQ(extras.signed_varint(), 256);
  EXPECT_EQ(extras.varint(), 99u);
  EXPECT_EQ(extras.signed_varint(), 12);
  EXPECT_TRUE(extras.is_at_end());
}

TEST_F(ColumnEncoderTest, writes_values_as_the_fields_of_the_site_say) {
  const telltale_field fields[] = {{"i", TELLTALE_FIELD_TYPE_INTEGER, 0},
                                   {"f", TELLTALE_FIELD_TYPE_FLOAT, 0},
                                   {"t", TELLTALE_FIELD_TYPE_TEXT, 0},
                                   {"s", TELLTALE_FIELD_TYPE_SHAPE, 0},
                                   {"n", TELLTALE_FIELD_TYPE_NAME, 0}};
  const telltale_site site = {"work", "", "", "", fields, 5, 0, TELLTALE_KIND_SCOPE, 0};
  const std::uint32_t number = names_->number_of(site);
  std::uint64_t half = 0, text = 0;
  const double value = 0.5;
  std::memcpy(&half, &value, sizeof half);
  std::memcpy(&text, "abc", 3);
  add(RecordType::kSpan, number, SpanRecord{{}, 1, 1},
      {static_cast<std::uint64_t>(-3), half, 3, text, 2, 16, 1000, 300});
  encode();
  ByteReader& values = column(tell::RecordColumn::kValues);
  EXPECT_EQ(values.signed_varint(), -3);
  EXPECT_EQ(values.float64(), 0.5);
  EXPECT_EQ(values.varint(), 3u);
  const ByteReader letters = values.bytes(3);
  EXPECT_EQ(std::string(letters.position(), letters.position() + letters.left()), "abc");
  EXPECT_EQ(values.varint(), 2u);
  EXPECT_EQ(values.signed_varint(), 16);
  EXPECT_EQ(values.signed_varint(), 1000);
  EXPECT_EQ(values.varint(), 300u);
  EXPECT_TRUE(values.is_at_end());
}

TEST_F(ColumnEncoderTest, leaves_out_what_ended_too_long_ago) {
  add(RecordType::kSpan, 1, SpanRecord{{}, 10, 5});
  add(RecordType::kSpan, 1, SpanRecord{{}, 10, 15});
  add(RecordType::kInstant, 1, MarkRecord{{}, 19});
  EXPECT_EQ(encode(20).records, 1u);
  EXPECT_EQ(column(tell::RecordColumn::kDurations).varint(), 15u);
}

TEST_F(ColumnEncoderTest, has_room_for_records_whose_every_number_is_as_long_as_can_be) {
  while (bytes_.size() + sizeof(AllocationRecord) <= 4096)
    add(RecordType::kAllocation, UINT32_MAX,
        AllocationRecord{{},
                         bytes_.size() % 3 == 0 ? UINT64_MAX / 2 : 0,
                         bytes_.size() % 2 == 0 ? UINT64_MAX / 3 : 0,
                         INT64_MIN,
                         INT64_MIN,
                         INT64_MAX,
                         INT64_MAX});
  EXPECT_EQ(encode().records, 4096 / sizeof(AllocationRecord));
}

}  // namespace
}  // namespace telltale::record
