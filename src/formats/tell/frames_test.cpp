#include "formats/tell/frames.h"

#include <gtest/gtest.h>

#include <string>

#include "formats/tell/testing/tell_sketch.h"

namespace telltale::tell {
namespace {

using testing::TellSketch;

FrameScan scan(const std::string& bytes) {
  return scan_frames({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
}

FrameScan scan(std::string&&) = delete;  // what it finds points into the bytes

std::string payload_of(const Frame& frame) {
  const auto payload = Payload::open(frame);
  return payload ? std::string(payload->bytes().begin(), payload->bytes().end()) : "(damaged)";
}

std::string payloads(const FrameScan& found) {
  std::string text;
  for (const Frame& frame : found.frames) text += payload_of(frame) + ' ';
  return text;
}

TEST(Frames, are_found_one_behind_the_other) {
  const TellSketch sketch = TellSketch().chunk(2, "one").compressed_chunk(3, "two").chunk(999, "").trailer();
  const FrameScan found = scan(sketch.bytes());
  ASSERT_EQ(found.frames.size(), 4u);
  EXPECT_EQ(found.frames[0].kind(), ChunkKind::kStrings);
  EXPECT_EQ(found.frames[1].offset, sketch.boundaries()[1]);
  EXPECT_EQ(found.frames[2].header.kind, 999);
  EXPECT_EQ(payload_of(found.frames[0]), "one");
  EXPECT_EQ(payload_of(found.frames[1]), "two");
  EXPECT_TRUE(found.has_trailer);
  EXPECT_FALSE(found.was_cut);
  EXPECT_EQ(found.lost_chunks, 0u);
}

TEST(Frames, end_with_the_last_whole_one_wherever_the_file_is_cut) {
  const TellSketch sketch = TellSketch().chunk(2, "one").chunk(3, "").chunk(5, "three");
  const std::string& bytes = sketch.bytes();
  for (std::size_t size = sizeof(FileHeader); size <= bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    const FrameScan found = scan(cut);
    std::size_t whole = 0;
    while (whole + 1 < sketch.boundaries().size() && sketch.boundaries()[whole + 1] <= size) ++whole;
    EXPECT_EQ(found.frames.size(), whole) << "cut at " << size;
    EXPECT_EQ(found.was_cut, size != sketch.boundaries()[whole]) << "cut at " << size;
    EXPECT_EQ(found.lost_chunks, 0u) << "cut at " << size;
    EXPECT_EQ(found.cut_offset, found.was_cut ? sketch.boundaries()[whole] : 0) << "cut at " << size;
  }
}

TEST(Frames, are_found_again_behind_a_damaged_header) {
  const TellSketch sketch = TellSketch().chunk(2, "one").chunk(3, "CHNK CHNK").chunk(5, "three").chunk(6, "four");
  for (std::size_t at = 0; at < sizeof(ChunkHeader); ++at) {
    std::string bytes = sketch.bytes();
    bytes[sketch.boundaries()[1] + at] ^= 0x10;
    const FrameScan found = scan(bytes);
    EXPECT_EQ(payloads(found), "one three four ") << "byte " << at;
    EXPECT_EQ(found.lost_chunks, 1u) << "byte " << at;
    EXPECT_EQ(found.first_damage, sketch.boundaries()[1]) << "byte " << at;
  }
}

TEST(Frames, with_a_damaged_payload_are_known_by_their_checksum) {
  const TellSketch sketch = TellSketch().chunk(2, "one").compressed_chunk(3, std::string(100, 'x'));
  for (const std::size_t chunk : {0u, 1u}) {
    for (std::size_t at = sketch.boundaries()[chunk] + 32; at < sketch.boundaries()[chunk + 1]; ++at) {
      std::string bytes = sketch.bytes();
      bytes[at] ^= 1;
      const FrameScan found = scan(bytes);
      ASSERT_EQ(found.frames.size(), 2u);
      EXPECT_EQ(payload_of(found.frames[chunk]), "(damaged)");
      EXPECT_NE(payload_of(found.frames[1 - chunk]), "(damaged)");
    }
  }
}

TEST(Frames, are_missed_by_the_gap_in_their_numbers) {
  const TellSketch sketch = TellSketch().chunk(2, "one").skip_number().skip_number().chunk(3, "four");
  const FrameScan found = scan(sketch.bytes());
  EXPECT_EQ(found.frames.size(), 2u);
  EXPECT_EQ(found.lost_chunks, 2u);
}

TEST(Frames, of_another_recording_are_not_taken) {
  const TellSketch sketch = TellSketch().chunk(2, "one").chunk(3, "two");
  const std::string twice = sketch.bytes() + sketch.bytes().substr(sketch.boundaries()[0]);
  const FrameScan found = scan(twice);
  EXPECT_EQ(payloads(found), "one two ");
  EXPECT_EQ(found.lost_chunks, 2u);
}

TEST(Frames, that_lie_about_their_size_are_damaged) {
  std::string bytes = TellSketch().compressed_chunk(2, std::string(100, 'x')).bytes();
  for (const std::uint64_t raw : {99u, 101u}) {
    std::string header = bytes.substr(16, 28);
    header.replace(12, 4, testing::fixed(raw, 4));
    const std::string changed =
        bytes.substr(0, 16) + header + testing::fixed(testing::slow_crc32c(header), 4) + bytes.substr(48);
    const FrameScan found = scan(changed);
    ASSERT_EQ(found.frames.size(), 1u);
    EXPECT_EQ(payload_of(found.frames[0]), "(damaged)");
  }
}

TEST(Frames, notice_every_byte_that_changed_except_in_the_minor_version) {
  const std::string bytes = TellSketch().chunk(2, "one").compressed_chunk(3, "two").trailer().bytes();
  for (std::size_t at = 8; at < bytes.size(); ++at) {
    if (at < 12) continue;  // the versions: another major one is refused, another minor one makes no difference
    std::string changed = bytes;
    changed[at] ^= 0x40;
    const FrameScan found = scan(changed);
    bool is_noticed = found.lost_chunks > 0 || found.was_cut;
    for (const Frame& frame : found.frames) is_noticed |= !Payload::open(frame);
    EXPECT_TRUE(is_noticed) << "byte " << at;
  }
}

}  // namespace
}  // namespace telltale::tell
