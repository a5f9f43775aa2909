// The segments of PyTorch's allocator as the page draws them: each a row, with its blocks by address. What nobody could
// see in a row stands together, so that the answer is bounded however many blocks there are.
//
// Pure and thread-safe; linear in blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "memory/memory_causes.h"
#include "memory/segment_map.h"
#include "trace/trace.h"

namespace telltale::answers {

// What a part of a row is.
enum class PartState : std::uint8_t { kFree, kAllocated, kAwaitingFree, kSeveral };

struct DrawnSegment {
  std::string address;  // "0x7f0000000000"
  std::int64_t bytes = 0, used = 0;
  std::uint64_t stream = 0;
  std::string pool;  // empty: the usual ones
  // By part, in the order of their addresses; together they fill it.
  std::vector<std::int64_t> part_bytes, part_used;
  std::vector<std::int64_t> part_blocks;    // 1, or how many small ones stand together
  std::vector<std::uint8_t> part_state;     // PartState
  std::vector<std::int32_t> part_category;  // in the order of stacked_uses(); -1: free, or several
  std::vector<std::int32_t> part_maker;     // in DrawnSegments::makers; -1: not known
};

struct DrawnSegments {
  std::vector<DrawnSegment> segments;  // the largest, by falling size
  std::vector<std::string> makers;     // who made blocks
  std::size_t left_out = 0;            // segments
  std::int64_t left_out_bytes = 0;
};

DrawnSegments drawn_segments(const Trace& trace, const DeviceCauses& device,
                             const std::vector<MappedSegment>& segments);

template <typename Fields>
void describe(Fields& fields, const DrawnSegment& segment) {
  fields.object("DrawnSegment", "A segment of the allocator and what is in it");
  fields.member("address", segment.address, "where it begins");
  fields.member("bytes", segment.bytes, "how large it is");
  fields.member("used_bytes", segment.used, "of which blocks are in use");
  fields.member("stream", segment.stream, "whose it is");
  fields.member("pool", segment.pool, "empty: the usual ones");
  fields.member("part_bytes", segment.part_bytes, "by part, by address: its size");
  fields.member("part_used_bytes", segment.part_used, "by part: what is in use");
  fields.member("part_blocks", segment.part_blocks, "by part: how many blocks stand together");
  fields.member("part_state", segment.part_state, "by part: 0 free, 1 allocated, 2 awaiting its free, 3 several");
  fields.member("part_category", segment.part_category, "by part: its place in `categories`; -1: none");
  fields.member("part_maker", segment.part_maker, "by part: its place in `makers`; -1: not known");
}

template <typename Fields>
void describe(Fields& fields, const DrawnSegments& drawn) {
  fields.object("DrawnSegments", "The segments of the allocator");
  fields.member("segments", drawn.segments, "by falling size; empty where no log was recorded");
  fields.member("makers", drawn.makers, "who made what is in them");
  fields.member("left_out", drawn.left_out, "smaller segments");
  fields.member("left_out_bytes", drawn.left_out_bytes, "of these");
}

}  // namespace telltale::answers
