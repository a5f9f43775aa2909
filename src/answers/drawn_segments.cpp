#include "answers/drawn_segments.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "memory/stack_words.h"
#include "report/analyze_words.h"
#include "report/memory_words.h"
#include "report/text_width.h"

namespace telltale::answers {
namespace {

constexpr std::size_t kMostSegments = 200;
// Parts that a row is divided into at most, but for those between them: a row has about as many pixels. All rows
// together have a bound as well.
constexpr std::int64_t kMostCells = 1000, kFewestCells = 100, kCellsOfAll = 20'000;
constexpr std::size_t kWidestMaker = 120;

class Drawing {
 public:
  Drawing(const Trace& trace, const DeviceCauses& device) : trace_(trace), device_(device) {}

  void add(const MappedSegment& from, std::int64_t cells) {
    DrawnSegment& row = drawn_.segments.emplace_back();
    row.address = fmt::format("{:#x}", from.address);
    row.bytes = from.bytes;
    row.used = from.used;
    row.stream = from.stream;
    row.pool = printable(trace_.strings[from.pool]);
    const std::int64_t least = from.bytes / cells;
    bool is_run = false;
    for (const MappedBlock& block : from.blocks) {
      const bool is_small = block.bytes < least;
      if (is_small && is_run)
        join(row, block);
      else
        append(row, block);
      is_run = is_small;
    }
  }

  DrawnSegments& drawn() { return drawn_; }

 private:
  static void join(DrawnSegment& row, const MappedBlock& block) {
    row.part_bytes.back() += block.bytes;
    row.part_used.back() += block.use ? block.bytes : 0;
    row.part_blocks.back() += 1;
    row.part_state.back() = static_cast<std::uint8_t>(PartState::kSeveral);
    row.part_category.back() = row.part_maker.back() = -1;
  }

  void append(DrawnSegment& row, const MappedBlock& block) {
    row.part_bytes.push_back(block.bytes);
    row.part_used.push_back(block.use ? block.bytes : 0);
    row.part_blocks.push_back(1);
    const PartState state = !block.use                                 ? PartState::kFree
                            : block.state == BlockState::kAwaitingFree ? PartState::kAwaitingFree
                                                                       : PartState::kAllocated;
    row.part_state.push_back(static_cast<std::uint8_t>(state));
    row.part_category.push_back(block.use ? place_of(*block.use) : -1);
    row.part_maker.push_back(block.use ? maker_of(block) : -1);
  }

  static std::int32_t place_of(MemoryUse use) {
    const auto all = stacked_uses();
    return static_cast<std::int32_t>(std::ranges::find(all, use) - all.begin());
  }

  std::int32_t maker_of(const MappedBlock& block) {
    std::string text;
    if (block.block) {
      text = maker_text(described(trace_, device_.at_peak[*block.block]));
    } else if (block.call_stack != kEmptyString) {
      if (const auto line = line_of_stack(trace_.strings[block.call_stack])) text = source_text(*line);
    }
    if (text.empty()) return -1;
    text = cut_to_width(printable(text), kWidestMaker);
    const auto [place, is_new] = makers_.try_emplace(text, static_cast<std::int32_t>(drawn_.makers.size()));
    if (is_new) drawn_.makers.push_back(std::move(text));
    return place->second;
  }

  const Trace& trace_;
  const DeviceCauses& device_;
  DrawnSegments drawn_;
  std::unordered_map<std::string, std::int32_t> makers_;
};

}  // namespace

DrawnSegments drawn_segments(const Trace& trace, const DeviceCauses& device,
                             const std::vector<MappedSegment>& segments) {
  std::vector<const MappedSegment*> largest;
  for (const MappedSegment& segment : segments) largest.push_back(&segment);
  std::ranges::stable_sort(largest, std::ranges::greater{}, [](const MappedSegment* each) { return each->bytes; });
  Drawing drawing(trace, device);
  const auto shown = static_cast<std::int64_t>(std::clamp<std::size_t>(largest.size(), 1, kMostSegments));
  const std::int64_t cells = std::clamp(kCellsOfAll / shown, kFewestCells, kMostCells);
  for (std::size_t i = 0; i < largest.size(); ++i) {
    if (i < kMostSegments) {
      drawing.add(*largest[i], cells);
      continue;
    }
    ++drawing.drawn().left_out;
    drawing.drawn().left_out_bytes += largest[i]->bytes;
  }
  return std::move(drawing.drawn());
}

}  // namespace telltale::answers
