#include "formats/kineto/parallel_blocks.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace telltale::kineto {
namespace {

constexpr std::size_t kLongestTail = std::size_t{1} << 30;

struct NumberedBlock {
  std::size_t number = 0;
  TextBlock block;
};

struct FinishedBlock {
  TextBlock block;
  ParsedBlock parsed;
};

// Blocks in the order of the file, each checked against the one before it.
//
// add() may be called by any thread; everything else by one thread when all have finished.
class Collector {
 public:
  explicit Collector(EventList& list) : list_(list), reader_(names_for_repeats()) {}

  void add(std::size_t number, FinishedBlock finished) {
    const std::scoped_lock lock(mutex_);
    waiting_.emplace(number, std::move(finished));
    for (auto next = waiting_.begin(); next != waiting_.end() && next->first == next_number_; next = waiting_.begin()) {
      accept(std::move(next->second));
      waiting_.erase(next);
      ++next_number_;
    }
  }

 private:
  LocalNames& names_for_repeats() {
    list_.names.push_back(std::make_unique<LocalNames>());
    return *list_.names.back();
  }

  void accept(FinishedBlock finished) {
    if (list_.has_ended) {
      const std::size_t room = kLongestTail - std::min(kLongestTail, list_.tail.size());
      list_.tail.append(finished.block.text().substr(0, room));
      return;
    }
    if (unread_.size > 0) {
      // The guess at the end of the last block was wrong: this block was read from the wrong place. Gather at least as
      // much text as is unread before trying again, so that a long stretch of wrong guesses is not read over and over.
      TextBlock both = joined(unread_, 0, finished.block);
      const bool is_worth_trying = both.is_last || both.size >= 2 * tried_;
      unread_ = std::move(both);
      if (!is_worth_trying) return;
      finished.block = std::exchange(unread_, {});
      finished.parsed = parse_block(finished.block, reader_, list_.ends_after_element);
      finished.parsed.events.batch.names = list_.names.front().get();
    }
    const ParsedBlock& parsed = finished.parsed;
    list_.ends_after_element = parsed.is_after_element;
    list_.has_events |= parsed.has_events;
    list_.has_other_elements |= parsed.has_other_elements;
    if (parsed.end == BlockEnd::kListEnd) {
      list_.has_ended = true;
      list_.tail_offset = finished.block.byte_offset + parsed.position;
      list_.tail = finished.block.text().substr(parsed.position);
    } else if (parsed.end == BlockEnd::kInsideEvent) {
      list_.was_cut = finished.block.is_last;
      list_.cut_offset = finished.block.byte_offset + parsed.position;
      unread_ = joined(finished.block, parsed.position, {});
      tried_ = unread_.size;
    }
    list_.blocks.push_back(std::move(finished.parsed.events));
  }

  std::mutex mutex_;
  EventList& list_;
  EventReader reader_;
  std::map<std::size_t, FinishedBlock> waiting_;
  std::size_t next_number_ = 0;
  TextBlock unread_;
  std::size_t tried_ = 0;
};

// Hands out the blocks; any thread may call next().
class Dispenser {
 public:
  Dispenser(BlockSource& source, const std::function<void()>& progress) : source_(source), progress_(progress) {}

  std::optional<NumberedBlock> next() {
    const std::scoped_lock lock(mutex_);
    if (error_) return std::nullopt;
    if (progress_) progress_();
    auto block = source_.next();
    if (!block) {
      error_ = block.error();
      return std::nullopt;
    }
    if (!*block) return std::nullopt;
    return NumberedBlock{count_++, std::move(**block)};
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  std::mutex mutex_;
  BlockSource& source_;
  const std::function<void()>& progress_;
  std::size_t count_ = 0;
  std::optional<Error> error_;
};

void work(Dispenser& dispenser, Collector& collector, LocalNames& names) {
  EventReader reader(names);
  while (auto next = dispenser.next()) {
    FinishedBlock finished{std::move(next->block), {}};
    finished.parsed = parse_block(finished.block, reader);
    finished.parsed.events.batch.names = &names;
    collector.add(next->number, std::move(finished));
  }
}

}  // namespace

Result<EventList> read_event_list(BlockSource& source, unsigned threads, const std::function<void()>& progress) {
  EventList list;
  Collector collector(list);
  Dispenser dispenser(source, progress);
  std::vector<LocalNames*> names;
  for (unsigned i = 0; i < threads; ++i) {
    list.names.push_back(std::make_unique<LocalNames>());
    names.push_back(list.names.back().get());
  }
  {
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < threads; ++i) others.emplace_back([&, i] { work(dispenser, collector, *names[i]); });
    work(dispenser, collector, *names[0]);
  }
  if (dispenser.error()) return std::unexpected(*dispenser.error());
  return list;
}

}  // namespace telltale::kineto
