// A line of spans that can be drawn at any zoom by looking at few of them: over every 32 spans stands their sum, over
// every 32 sums theirs, and so on.
//
// At a zoom, time is divided into buckets. A span of a bucket's width or more is drawn alone. Shorter ones that start
// in the same bucket, with no longer one between them, are drawn together, and a sum that is shorter than a bucket
// counts as one of them. So what is drawn at a zoom is the same whichever part of it is asked for.
//
// Spans are ordered by start. On most lines they do not overlap. Where they do (the last lane of an overfull track),
// those that overlap are drawn together, however long.
//
// `Spans` below has size(), start(i) and duration(i). Pure and thread-safe. Filling is linear; drawing takes time for
// each bucket of the window and each level of sums, however many spans there are.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/intervals.h"

namespace telltale {

inline constexpr unsigned kSumBits = 5;
inline constexpr std::size_t kSpansInSum = std::size_t{1} << kSumBits;

struct SpanSum {
  Nanoseconds start = 0;  // of the first span
  Nanoseconds end = 0;    // of all, the latest
  double busy = 0;        // durations, added up
  std::uint32_t longest = 0;
};

// A span, or several that are drawn together.
struct DrawnSpan {
  Nanoseconds start = 0, end = 0;
  double busy = 0;
  std::uint32_t longest = 0;  // an index of the spans
  std::uint32_t count = 0;
  bool operator==(const DrawnSpan&) const = default;
};

// How many sums stand over so many spans.
constexpr std::size_t sums_over(std::size_t spans) {
  std::size_t sums = 0;
  while (spans > kSpansInSum) {
    spans = (spans + kSpansInSum - 1) / kSpansInSum;
    sums += spans;
  }
  return sums;
}

template <typename Spans>
class SpanLine {
 public:
  // `sums` has room for sums_over(spans.size()), and is filled by fill_sums() before anything is drawn.
  SpanLine(const Spans& spans, std::span<SpanSum> sums) : SpanLine(spans, std::span<const SpanSum>(sums)) {
    writable_ = sums;
  }
  SpanLine(const Spans& spans, std::span<const SpanSum> sums) : spans_(spans), sums_(sums) {
    first_of_level_[0] = 0;
    size_of_level_[0] = spans.size();
    std::size_t first = 0;
    while (size_of_level_[top_] > kSpansInSum) {
      const std::size_t size = (size_of_level_[top_] + kSpansInSum - 1) / kSpansInSum;
      ++top_;
      first_of_level_[top_] = first;
      size_of_level_[top_] = size;
      first += size;
    }
  }

  void fill_sums() {
    for (std::size_t level = 1; level <= top_; ++level) {
      for (std::size_t i = 0; i < size_of_level_[level]; ++i) {
        const std::size_t begin = i * kSpansInSum;
        const std::size_t end = std::min(begin + kSpansInSum, size_of_level_[level - 1]);
        SpanSum sum = entry(level - 1, begin);
        for (std::size_t child = begin + 1; child < end; ++child) add(sum, entry(level - 1, child));
        writable_[first_of_level_[level] + i] = sum;
      }
    }
  }

  // What is drawn within the window where buckets are 2^level wide: calls visit(DrawnSpan) by start. Windows begin and
  // end with a bucket.
  template <typename Visit>
  void draw(unsigned level, Interval window, Visit visit) const {
    Drawing<Visit> drawing{*this, level, window, window.begin - (Nanoseconds{1} << level), visit, {}};
    for (std::size_t i = 0; i < size_of_level_[top_]; ++i) drawing.look_at(top_, i);
    drawing.finish();
  }

 private:
  static constexpr std::size_t kMostLevels = 1 + (32 + kSumBits - 1) / kSumBits;  // for all that 32 bits can count

  SpanSum entry(std::size_t level, std::size_t i) const {
    if (level > 0) return sums_[first_of_level_[level] + i];
    const Nanoseconds start = spans_.start(i), duration = spans_.duration(i);
    return {start, start + duration, static_cast<double>(duration), static_cast<std::uint32_t>(i)};
  }

  std::uint32_t count_below(std::size_t level, std::size_t i) const {
    const std::size_t width = std::size_t{1} << (kSumBits * level);
    return static_cast<std::uint32_t>(std::min(width, spans_.size() - i * width));
  }

  template <typename Sum, typename Other>
  void add(Sum& sum, const Other& other) const {
    if (spans_.duration(other.longest) > spans_.duration(sum.longest)) sum.longest = other.longest;
    sum.end = std::max(sum.end, other.end);
    sum.busy += other.busy;
  }

  template <typename Visit>
  struct Drawing {
    const SpanLine& line;
    unsigned level;
    Interval window;
    Nanoseconds from;  // what starts a bucket before the window may be drawn with what reaches into it
    Visit& visit;
    DrawnSpan now;  // count 0: none

    void look_at(std::size_t depth, std::size_t i) {
      const SpanSum sum = line.entry(depth, i);
      if (sum.end < from || sum.start >= window.end) return;
      const bool is_short = sum.end - sum.start < Nanoseconds{1} << level;
      const bool overlaps = now.count > 0 && sum.start < now.end;
      if (depth > 0 && !is_short && !overlaps) {
        const std::size_t end = std::min((i + 1) * kSpansInSum, line.size_of_level_[depth - 1]);
        for (std::size_t child = i * kSpansInSum; child < end; ++child) look_at(depth - 1, child);
        return;
      }
      const DrawnSpan drawn{sum.start, sum.end, sum.busy, sum.longest, line.count_below(depth, i)};
      if (overlaps || (is_short && continues(drawn))) {
        line.add(now, drawn);
        now.count += drawn.count;
        return;
      }
      finish();
      now = drawn;
    }

    bool continues(const DrawnSpan& next) const {
      const bool now_is_short = now.count > 1 || now.end - now.start < Nanoseconds{1} << level;
      return now.count > 0 && now_is_short && now.start >> level == next.start >> level;
    }

    void finish() {
      const bool reaches_in = now.end > window.begin || now.start >= window.begin;
      if (now.count > 0 && reaches_in) visit(static_cast<const DrawnSpan&>(now));
      now.count = 0;
    }
  };

  const Spans& spans_;
  std::span<const SpanSum> sums_;
  std::span<SpanSum> writable_;
  std::array<std::size_t, kMostLevels> first_of_level_{}, size_of_level_{};
  std::size_t top_ = 0;
};

}  // namespace telltale
