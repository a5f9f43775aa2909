#include "analysis/torch_memory.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "trace/side_table.h"

namespace telltale {

MemoryChanges::MemoryChanges(const Trace& trace) : series_(trace.processes.size()) {
  const MemoryEvents& memory = trace.memory;
  is_empty_ = memory.size() == 0;

  std::vector<std::uint32_t> by_time(memory.size());
  std::iota(by_time.begin(), by_time.end(), 0U);
  if (!std::ranges::is_sorted(memory.time)) {
    std::ranges::stable_sort(by_time, {}, [&](std::uint32_t row) { return memory.time[row]; });
  }
  for (Walk::Series& series : series_) series.until.emplace_back();
  for (const std::uint32_t row : by_time) {
    Walk::Series& series = series_[trace.tracks[memory.track[row]].process];
    MemoryChange sum = series.until.back();
    (memory.device[row] == kHost ? sum.host : sum.device) += memory.bytes[row];
    series.time.push_back(memory.time[row]);
    series.until.push_back(sum);
  }
}

MemoryChanges::Walk MemoryChanges::walk(ProcessId process) const { return Walk(&series_[process]); }

MemoryChange MemoryChanges::Walk::during(Nanoseconds start, Nanoseconds end) {
  const std::vector<Nanoseconds>& time = series_->time;
  while (first_ < time.size() && time[first_] < start) ++first_;

  std::size_t reach = 1;  // most spans hold few allocations: look near before looking far
  while (first_ + reach < time.size() && time[first_ + reach] <= end) reach *= 2;
  const auto from = time.begin() + static_cast<std::ptrdiff_t>(first_);
  const auto to = time.begin() + static_cast<std::ptrdiff_t>(std::min(first_ + reach, time.size()));
  const std::size_t last = static_cast<std::size_t>(std::upper_bound(from, to, end) - time.begin());

  const MemoryChange before = series_->until[first_];
  const MemoryChange after = series_->until[last];
  return {after.host - before.host, after.device - before.device};
}

namespace {

using Category = MemoryCategory;

using Block = CategorizedBlock;
constexpr Nanoseconds kNever = Block::kNever;
constexpr Nanoseconds kMicrosecond = 1000;
constexpr std::string_view kAutogradEngine = "autograd::engine::evaluate_function";
constexpr std::string_view kOptimizerStep = "Optimizer.step#";

// When two notes of one block disagree, the later one in this list wins, as in torch.
int rank_of(Category category) {
  switch (category) {
    case Category::kInput:
      return 1;
    case Category::kGradient:
      return 2;
    case Category::kParameter:
      return 3;
    case Category::kOptimizerState:
      return 4;
    default:
      return 0;
  }
}

void take_note(Block& block, Category category, std::size_t note) {
  if (block.note != Block::kNoNote && rank_of(category) <= rank_of(block.noted)) return;
  block.noted = category;
  block.note = note;
}

// The blocks of a device, in the order in which they were allocated, and which of them an address stood for when.
class Blocks {
 public:
  Blocks(const Trace& trace, DeviceId device) {
    const MemoryEvents& memory = trace.memory;
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < memory.size(); ++row)
      if (memory.device[row] == device) rows.push_back(row);
    std::ranges::stable_sort(rows, {}, [&](std::uint32_t row) { return memory.time[row]; });
    for (const std::uint32_t row : rows) {
      if (memory.bytes[row] > 0)
        add({memory.address[row], memory.bytes[row], memory.time[row], kNever, memory.event[row]});
      else if (memory.bytes[row] < 0)
        free(row, memory);
    }
  }

  // Of a block that lived at that time, known or not until now.
  void note(const TensorNote& note, std::size_t index) {
    const auto known = by_address_.find(note.address);
    if (known != by_address_.end()) {
      const std::vector<std::size_t>& places = known->second;
      for (std::size_t i = places.size(); i-- > 0;) {
        Block& block = blocks_[places[i]];
        if (block.allocated > note.time + kClockDifference) continue;
        if (block.freed >= note.time - kClockDifference) take_note(block, note.category, index);
        return;
      }
    }
    if (note.bytes <= 0) return;
    Block& block = blocks_[add({note.address, note.bytes, Block::kBeforeTheTrace, first_use_of(note.address)})];
    take_note(block, note.category, index);
  }

  std::vector<Block>& all() { return blocks_; }

 private:
  std::size_t add(Block block) {
    std::vector<std::size_t>& places = by_address_[block.address];
    // Blocks that were there before come to light last.
    const auto where = block.was_there_before() ? places.begin() : places.end();
    places.insert(where, blocks_.size());
    blocks_.push_back(block);
    return blocks_.size() - 1;
  }

  void free(std::uint32_t row, const MemoryEvents& memory) {
    const auto known = by_address_.find(memory.address[row]);
    const bool is_live = known != by_address_.end() && blocks_[known->second.back()].freed == kNever;
    Block& block =
        blocks_[is_live ? known->second.back()
                        : add({memory.address[row], -memory.bytes[row], Block::kBeforeTheTrace, memory.time[row]})];
    block.freed = memory.time[row];
    block.freeing_event = memory.event[row];
  }

  // A block that was there before has gone unseen by then.
  Nanoseconds first_use_of(std::uint64_t address) const {
    const auto known = by_address_.find(address);
    return known == by_address_.end() ? kNever : blocks_[known->second.front()].allocated;
  }

  std::vector<Block> blocks_;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> by_address_;
};

// What the operators around an allocation tell about it.
class Circumstances {
 public:
  explicit Circumstances(const Trace& trace) : trace_(trace), has_backward_(trace.events.size(), false) {
    for (std::size_t i = 0; i < trace.operators.size(); ++i) {
      const EventId event = trace.operators.event(i);
      if (trace.operators.row(i).forward_thread == 0) continue;
      backward_starts_.push_back(trace.events.start[event]);
      if (const EventId forward = trace.events.cause[event]; forward != kNoEvent) has_backward_[forward] = true;
    }
    std::ranges::sort(backward_starts_);
  }

  Category category_of(const Block& block) const {
    if (block.noted != Category::kUnknown && block.noted != Category::kInput) return block.noted;
    if (block.was_there_before()) return block.noted;
    const Around around = look_around(block.event);
    if (around.outermost != kNoEvent && block.freed <= trace_.events.end(around.outermost)) return Category::kTemporary;
    if (around.is_backward) return Category::kAutogradDetail;
    if (around.is_optimizer) return Category::kUnknown;
    if (around.is_in_module || around.has_backward) return Category::kActivation;
    const bool is_used_backward = block.event != kNoEvent && lives_into_backward(block);
    return block.noted == Category::kInput || is_used_backward ? Category::kInput : Category::kUnknown;
  }

 private:
  struct Around {
    EventId outermost = kNoEvent;  // operator, the engine's own calls left aside
    bool is_backward = false, is_optimizer = false, is_in_module = false, has_backward = false;
  };

  Around look_around(EventId event) const {
    Around around;
    for (; event != kNoEvent; event = trace_.events.parent[event]) {
      const Kind kind = trace_.events.kind[event];
      const std::string_view name = trace_.name(event);
      if (kind == Kind::kModule) around.is_in_module = true;
      if (kind == Kind::kAnnotation && name.starts_with(kOptimizerStep)) around.is_optimizer = true;
      if (kind != Kind::kOperator) continue;
      if (has_backward_[event]) around.has_backward = true;
      if (name.starts_with(kAutogradEngine)) {
        around.is_backward = true;
        continue;
      }
      around.outermost = event;
      const OperatorInfo* const info = trace_.operators.find(event);
      if (info != nullptr && info->forward_thread != 0) around.is_backward = true;
    }
    return around;
  }

  bool lives_into_backward(const Block& block) const {
    const auto next = std::ranges::lower_bound(backward_starts_, block.allocated);
    return next != backward_starts_.end() && *next < block.freed;
  }

  const Trace& trace_;
  std::vector<bool> has_backward_;            // forward operators that a backward one goes back to
  std::vector<Nanoseconds> backward_starts_;  // ascending
};

}  // namespace

std::vector<CategorizedBlock> categorized_blocks(const Trace& trace, DeviceId device,
                                                 std::span<const TensorNote> notes) {
  Blocks blocks(trace, device);
  for (std::size_t i = 0; i < notes.size(); ++i) blocks.note(notes[i], i);
  const Circumstances circumstances(trace);
  for (Block& block : blocks.all()) block.category = circumstances.category_of(block);
  return std::move(blocks.all());
}

std::vector<CategorizedChange> memory_by_category(const Trace& trace, DeviceId device,
                                                  std::span<const TensorNote> notes) {
  const std::vector<CategorizedBlock> blocks = categorized_blocks(trace, device, notes);
  std::vector<CategorizedChange> changes;
  Nanoseconds first = kNever;
  for (const Block& block : blocks) {
    if (!block.was_there_before()) first = std::min(first, block.allocated);
    if (block.freed != kNever) first = std::min(first, block.freed);
  }
  if (first == kNever) first = 0;
  for (const Block& block : blocks) {
    const auto begin = block.was_there_before() ? MemoryAction::kPreexisting : MemoryAction::kCreate;
    changes.push_back({block.was_there_before() ? first : block.allocated, begin, block.bytes, block.category});
    if (block.freed != kNever) changes.push_back({block.freed, MemoryAction::kDestroy, -block.bytes, block.category});
  }
  std::ranges::stable_sort(changes, [](const CategorizedChange& a, const CategorizedChange& b) {
    return std::pair(a.time, a.action) < std::pair(b.time, b.action);
  });
  return changes;
}

std::vector<CategorizedMemory> memory_over_time(std::span<const CategorizedChange> changes) {
  std::vector<CategorizedMemory> points;
  for (const CategorizedChange& change : changes) {
    const Nanoseconds time = change.time - change.time % kMicrosecond;
    if (points.empty())
      points.push_back({time, {}});
    else if (points.back().time != time)
      points.push_back({time, points.back().bytes});
    points.back().bytes[static_cast<std::size_t>(change.category)] += change.bytes;
  }
  return points;
}

}  // namespace telltale
