#include "timeline/event_matches.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

#include "base/parallel.h"

namespace telltale {
namespace {

constexpr EventId kWordBits = 64;
constexpr std::size_t kBlocksAtATime = 1024;

}  // namespace

EventMatches::EventMatches(const Trace& trace, const std::vector<bool>& is_wanted, unsigned threads) : trace_(trace) {
  const std::size_t events = trace.events.size(), blocks = (events + kBlock - 1) / kBlock;
  bits_.resize(blocks * kBlock / kWordBits);
  count_before_.resize(blocks + 1);
  parallel_for((blocks + kBlocksAtATime - 1) / kBlocksAtATime, threads, [&](std::size_t part) {
    const std::size_t end = std::min(blocks, (part + 1) * kBlocksAtATime);
    for (std::size_t block = part * kBlocksAtATime; block < end; ++block) {
      std::uint32_t count = 0;
      for (std::size_t event = block * kBlock; event < std::min((block + 1) * kBlock, events); ++event) {
        if (!is_wanted[trace.events.name[event]]) continue;
        bits_[event / kWordBits] |= std::uint64_t{1} << (event % kWordBits);
        ++count;
      }
      count_before_[block + 1] = count;
    }
  });
  for (std::size_t block = 0; block < blocks; ++block) count_before_[block + 1] += count_before_[block];
}

std::size_t EventMatches::matches_before(EventId event) const {
  const std::size_t block = event / kBlock;
  std::size_t matches = count_before_[block];
  for (std::size_t word = block * kBlock / kWordBits; word < event / kWordBits; ++word)
    matches += static_cast<std::size_t>(std::popcount(bits_[word]));
  if (event % kWordBits != 0)
    matches += static_cast<std::size_t>(std::popcount(bits_[event / kWordBits] << (kWordBits - event % kWordBits)));
  return matches;
}

// The first row of the track that is not before the given start and event.
EventId EventMatches::first_row_from(const Track& track, Nanoseconds start, EventId event) const {
  EventId low = track.first_event, high = track.first_event + track.event_count;
  while (low < high) {
    const EventId middle = low + (high - low) / 2;
    if (std::tuple(trace_.events.start[middle], middle) < std::tuple(start, event))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

EventId EventMatches::next_in_rows(EventId from, EventId end) const {
  for (EventId at = from; at < end;) {
    const std::uint64_t word = bits_[at / kWordBits] >> (at % kWordBits);
    if (word != 0) {
      const EventId found = at + static_cast<EventId>(std::countr_zero(word));
      return found < end ? found : kNoEvent;
    }
    at += kWordBits - at % kWordBits;
  }
  return kNoEvent;
}

EventId EventMatches::last_in_rows(EventId begin, EventId end) const {
  for (EventId at = end; at > begin;) {
    const EventId in_word = (at - 1) % kWordBits + 1;  // bits of this word that lie before `at`
    const std::uint64_t word = bits_[(at - 1) / kWordBits] << (kWordBits - in_word);
    if (word != 0) {
      const EventId found = at - 1 - static_cast<EventId>(std::countl_zero(word));
      return found >= begin ? found : kNoEvent;
    }
    if (at < in_word) break;
    at -= in_word;
  }
  return kNoEvent;
}

EventId EventMatches::first_from(Nanoseconds start, EventId event) const {
  EventId best = kNoEvent;
  for (const Track& track : trace_.tracks) {
    const EventId end = track.first_event + track.event_count;
    const EventId found = next_in_rows(first_row_from(track, start, event), end);
    if (found == kNoEvent) continue;
    const auto order = [&](EventId each) { return std::tuple(trace_.events.start[each], each); };
    if (best == kNoEvent || order(found) < order(best)) best = found;
  }
  return best;
}

EventId EventMatches::last_before(Nanoseconds start, EventId event) const {
  EventId best = kNoEvent;
  for (const Track& track : trace_.tracks) {
    const EventId found = last_in_rows(track.first_event, first_row_from(track, start, event));
    if (found == kNoEvent) continue;
    const auto order = [&](EventId each) { return std::tuple(trace_.events.start[each], each); };
    if (best == kNoEvent || order(found) > order(best)) best = found;
  }
  return best;
}

std::optional<EventMatches::Match> EventMatches::with_position(EventId event) const {
  if (event == kNoEvent) return std::nullopt;
  std::size_t position = 0;
  for (const Track& track : trace_.tracks)
    position +=
        matches_before(first_row_from(track, trace_.events.start[event], event)) - matches_before(track.first_event);
  return Match{event, position};
}

std::optional<EventMatches::Match> EventMatches::first() const {
  return with_position(first_from(std::numeric_limits<Nanoseconds>::min(), 0));
}

std::optional<EventMatches::Match> EventMatches::next(EventId from) const {
  const EventId found = first_from(trace_.events.start[from], from + 1);
  return found == kNoEvent ? first() : with_position(found);
}

std::optional<EventMatches::Match> EventMatches::previous(EventId from) const {
  const EventId found = last_before(trace_.events.start[from], from);
  return with_position(found == kNoEvent ? last_before(std::numeric_limits<Nanoseconds>::max(), 0) : found);
}

std::size_t EventMatches::memory_bytes() const {
  return bits_.capacity() * sizeof(std::uint64_t) + count_before_.capacity() * sizeof(std::uint32_t);
}

}  // namespace telltale
