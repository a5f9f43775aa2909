#include "formats/tell/thread_calls.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <set>
#include <span>

#include "base/interned_values.h"
#include "formats/tell/gap_classes.h"

namespace telltale::tell {
namespace {

// A gap that is longer than so many periods of the sampler has samples of its own, and is divided by them alone: with
// eight of them the part of one stack is known to within an eighth.
constexpr Nanoseconds kOwnSamples = 8;
// Where a thread has no operators, samples that are further apart than so many periods have a pause of the recording
// between them rather than a sampler that was late for want of a processor.
constexpr Nanoseconds kLatestSample = 16;

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

// A moment or a time at which a thread is known to be at a stack.
struct Observation {
  Nanoseconds start = 0, end = 0;
  StackNumber stack = kNoFrames;
  std::int32_t kept_frames = -1;
  StringId scope = kEmptyString;
};

// What lies between two observations: pieces, each at a stack that it is known to be at from some time on.
struct Piece : StackStretch {
  Nanoseconds known_from = 0;
};

struct NamedMoment {
  Nanoseconds time = 0;
  StringId name = kEmptyString;
};

// What was recorded exactly, without what stands inside of operators.
struct Outside {
  std::vector<Interval> containers;  // by start, outer ones first; they nest
  std::vector<Interval> operators;   // and other scopes without calls of their own; they do not overlap
  std::vector<Observation> observations;
  std::vector<NamedMoment> unplaced;  // when operators and others without a stack begin, ascending
  std::vector<Nanoseconds> edges;     // of all containers and operators, ascending
};

bool ends_before(const ExactScope& a, const ExactScope& b) { return a.end < b.end; }

// Operators whose inner ones tell stacks of their own run Python, as autograd's functions do. In the order of ends the
// last scope with a stack is inside if any is.
void let_python_in(std::span<ExactScope> scopes) {
  Nanoseconds last_start = std::numeric_limits<Nanoseconds>::min();
  for (ExactScope& scope : scopes) {
    scope.may_contain_calls |= last_start >= scope.start;
    if (scope.stack != kNoFrames) last_start = scope.start;
  }
}

// Without what stands inside of operators, in the order of their ends.
std::vector<ExactScope> outside_operators(std::vector<ExactScope> scopes) {
  if (!std::ranges::is_sorted(scopes, ends_before))
    std::ranges::stable_sort(scopes, [](const ExactScope& a, const ExactScope& b) {
      return a.end != b.end ? a.end < b.end : a.start > b.start;
    });
  let_python_in(scopes);
  std::ranges::reverse(scopes);                                 // outer scopes come before those inside
  Nanoseconds start = std::numeric_limits<Nanoseconds>::max();  // of the operator behind
  std::erase_if(scopes, [&](const ExactScope& scope) {
    if (scope.end > start) return true;
    if (!scope.may_contain_calls) start = scope.start;
    return false;
  });
  std::ranges::reverse(scopes);
  return scopes;
}

// Those that overlap another in part cannot all be kept to.
std::vector<ExactScope> nested(std::vector<ExactScope> containers, std::span<const Interval> operators) {
  std::ranges::stable_sort(containers, [](const ExactScope& a, const ExactScope& b) {
    return a.start != b.start ? a.start < b.start : a.end > b.end;
  });
  std::vector<Nanoseconds> open;  // ends
  std::erase_if(containers, [&](const ExactScope& scope) {
    const auto behind = std::ranges::upper_bound(operators, scope.start, {}, &Interval::begin);
    if (behind != operators.begin() && std::prev(behind)->begin < scope.start && std::prev(behind)->end > scope.start)
      return true;
    while (!open.empty() && open.back() <= scope.start) open.pop_back();
    if (!open.empty() && open.back() < scope.end) return true;
    open.push_back(scope.end);
    return false;
  });
  return containers;
}

Outside outside_of(std::vector<ExactScope> scopes) {
  Outside outside;
  std::vector<ExactScope> containers;
  for (const ExactScope& scope : outside_operators(std::move(scopes))) {
    if (scope.may_contain_calls) {
      if (scope.end > scope.start) containers.push_back(scope);
      continue;
    }
    outside.operators.push_back({scope.start, scope.end});
    if (scope.stack == kNoFrames)
      outside.unplaced.push_back({scope.start, scope.name});
    else
      outside.observations.push_back({scope.start, scope.end, scope.stack, scope.kept_frames, scope.name});
  }
  for (const ExactScope& scope : nested(std::move(containers), outside.operators)) {
    outside.containers.push_back({scope.start, scope.end});
    if (scope.stack == kNoFrames) continue;
    outside.observations.push_back({scope.start, scope.start, scope.stack, scope.kept_frames, scope.name});
    outside.observations.push_back({scope.end, scope.end, scope.stack, -1, scope.name});
  }
  std::ranges::stable_sort(outside.observations, [](const Observation& a, const Observation& b) {
    return a.start != b.start ? a.start < b.start : a.end < b.end;
  });
  for (const std::vector<Interval>* list : {&outside.containers, &outside.operators})
    for (const Interval& each : *list) outside.edges.insert(outside.edges.end(), {each.begin, each.end});
  std::ranges::sort(outside.edges);
  return outside;
}

// Half of the distances between samples are shorter; 0 when there are too few to tell.
Nanoseconds usual_period(std::span<const SeenSample> samples) {
  std::vector<Nanoseconds> distances;
  for (std::size_t i = 1; i < samples.size(); ++i) distances.push_back(samples[i].time - samples[i - 1].time);
  if (distances.empty()) return 0;
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::ranges::nth_element(distances, middle);
  constexpr Nanoseconds kLongestPeriod = 3'600'000'000'000;  // an hour: some of them are still a time
  return std::min(*middle, kLongestPeriod);
}

// The reconstruction of one thread, gap by gap: gap i lies before observation i, the last one behind all of them.
class Reconstruction {
 public:
  Reconstruction(SeenThread thread, SeenStacks& stacks, Nanoseconds first)
      : stacks_(stacks),
        outside_(outside_of(std::move(thread.scopes))),
        pauses_(std::move(thread.pauses)),
        samples_(std::move(thread.samples)),
        first_(first),
        classes_(stacks),
        calls_(stacks, outside_.containers) {
    std::ranges::stable_sort(samples_, {}, &SeenSample::time);
    std::ranges::sort(pauses_, {}, &Interval::begin);
    period_ = usual_period(samples_);
  }

  std::vector<MadeCall> run() {
    find_between();
    assign_samples();
    for (std::size_t i = 0; i <= observations().size(); ++i) {
      find_pieces(i);
      add_pieces(i);
    }
    return calls_.take(now_);
  }

 private:
  const std::vector<Observation>& observations() const { return outside_.observations; }
  bool is_between(std::size_t gap) const { return gap > 0 && gap < observations().size(); }

  GapKind kind_of(std::size_t gap) const {
    const Observation &before = observations()[gap - 1], &behind = observations()[gap];
    return {{before.stack, before.scope}, {behind.stack, behind.scope}, between_[gap]};
  }

  // Of each gap, a hash of the names of what stands in it, however often.
  void find_between() {
    const std::vector<NamedMoment>& unplaced = outside_.unplaced;
    std::size_t at = 0;
    std::set<StringId> names;
    for (std::size_t gap = 0; gap <= observations().size(); ++gap) {
      names.clear();
      const bool is_last = gap == observations().size();
      for (; at < unplaced.size() && (is_last || unplaced[at].time < observations()[gap].start); ++at)
        names.insert(unplaced[at].name);
      std::uint64_t hash = 0;
      for (const StringId name : names) hash = hash_with(hash, name);
      between_.push_back(hash);
    }
  }

  // Between two observations, from the last pause of the recording on.
  Interval time_of(std::size_t gap) {
    Interval time{observations()[gap - 1].end, observations()[gap].start};
    while (next_pause_ < pauses_.size() && pauses_[next_pause_].end <= time.end) {
      time.begin = std::max(time.begin, pauses_[next_pause_].end);
      ++next_pause_;
    }
    return time;
  }
  // Whether the sample lacks calls that go on over the whole gap, as the operator behind it says. The thread was in
  // another place by the time that the sampler had read all of it.
  bool is_torn(std::size_t gap, const SeenSample& sample) const {
    const Observation &before = observations()[gap - 1], &behind = observations()[gap];
    if (behind.kept_frames <= 0) return false;
    const std::size_t going_on =
        std::min(static_cast<std::size_t>(behind.kept_frames), stacks_.shared(before.stack, behind.stack));
    return stacks_.shared(sample.stack, behind.stack) < going_on;
  }
  bool has_own_samples(Interval time) const { return period_ > 0 && time.length() >= kOwnSamples * period_; }

  void assign_samples() {
    std::size_t at = 0;
    for (std::size_t gap = 0; gap <= observations().size(); ++gap) {
      if (gap > 0)  // what falls into an operator is the operator's
        while (at < samples_.size() && samples_[at].time < observations()[gap - 1].end) ++at;
      const std::size_t from = at;
      const bool is_last = gap == observations().size();
      while (at < samples_.size() && (is_last || samples_[at].time < observations()[gap].start)) ++at;
      own_.push_back({from, at});
      times_.push_back(is_between(gap) ? time_of(gap) : Interval{});
      if (!is_between(gap) || has_own_samples(times_[gap])) continue;
      const Interval time = times_[gap];
      for (std::size_t i = from; i < at; ++i)
        if (time.begin <= samples_[i].time && time.length() > 0 && !is_torn(gap, samples_[i]))
          classes_.add(kind_of(gap), samples_[i].stack, samples_[i].time - time.begin, time.length());
    }
  }

  void find_pieces(std::size_t gap) {
    pieces_.clear();
    const std::span<const SeenSample> own =
        std::span(samples_).subspan(own_[gap].first, own_[gap].second - own_[gap].first);
    if (!is_between(gap)) return find_lone_pieces(gap, own);
    const Interval time = times_[gap];
    if (has_own_samples(time)) {
      for (const SeenSample& sample : own) {
        if (sample.time < time.begin || is_torn(gap, sample)) continue;
        const Nanoseconds start = pieces_.empty() ? time.begin : switch_between(pieces_.back().known_from, sample.time);
        add_piece({{start, time.end, sample.stack}, sample.time});
      }
    } else if (time.length() > 0) {
      classes_.divide(kind_of(gap), time.begin, time.end, stretches_);
      for (const StackStretch& each : stretches_) {
        const Nanoseconds start = pieces_.empty() ? begin_of_gap(time) : outside_operators(each.start);
        add_piece({{start, time.end, each.stack}, start});
      }
      stretches_.clear();
    }
  }

  // Where no operators say how long something went on: each sample stands for half the time to its neighbors.
  void find_lone_pieces(std::size_t gap, std::span<const SeenSample> own) {
    const bool is_before = gap < observations().size(), is_behind = gap > 0;
    for (const SeenSample& sample : own) {
      Nanoseconds start = std::max(first_, sample.time - period_ / 2);
      if (is_behind) start = std::max(start, observations()[gap - 1].end);
      if (!pieces_.empty()) {
        StackStretch& before = pieces_.back();
        const Nanoseconds seen = pieces_.back().known_from;
        if (sample.time - seen <= kLatestSample * period_)
          start = switch_between(seen, sample.time);
        else
          before.end = std::min(before.end, seen + period_ / 2);
      }
      Nanoseconds end = sample.time + period_ / 2;
      if (is_before) end = std::min(end, observations()[gap].start);
      add_piece({{start, std::max(start, end), sample.stack}, sample.time});
    }
  }

  // Ends the piece before it where it begins, unless that has ended.
  void add_piece(const Piece& piece) {
    if (!pieces_.empty()) {
      Piece& before = pieces_.back();
      const bool is_apart = piece.known_from - before.known_from > kLatestSample * period_ && before.end < piece.start;
      if (!is_apart) before.end = std::max(before.start, piece.start);
    }
    pieces_.push_back(piece);
  }

  // Between two samples: at an edge of what was recorded exactly, if there is one, else in the middle.
  Nanoseconds switch_between(Nanoseconds a, Nanoseconds b) const {
    const Nanoseconds middle = a + (b - a) / 2;
    const auto right = std::ranges::lower_bound(outside_.edges, middle);
    Nanoseconds best = middle;
    if (right != outside_.edges.end() && *right < b) best = *right;
    if (right != outside_.edges.begin() && *std::prev(right) > a &&
        (best == middle || middle - *std::prev(right) < best - middle))
      best = *std::prev(right);
    return outside_operators(best);
  }

  // What ends or begins right behind an operator, such as a step, does so before all that takes time.
  Nanoseconds begin_of_gap(Interval time) const {
    constexpr Nanoseconds kShareOfGap = 16;
    const auto behind = std::ranges::upper_bound(outside_.edges, time.begin + time.length() / kShareOfGap);
    if (behind == outside_.edges.begin()) return time.begin;
    return outside_operators(std::max(time.begin, *std::prev(behind)));
  }

  // The nearest time that lies in no operator.
  Nanoseconds outside_operators(Nanoseconds time) const {
    const auto behind = std::ranges::upper_bound(outside_.operators, time, {}, &Interval::begin);
    if (behind == outside_.operators.begin()) return time;
    const Interval& around = *std::prev(behind);
    if (time >= around.end) return time;
    return time - around.begin < around.end - time ? around.begin : around.end;
  }

  void add_pieces(std::size_t gap) {
    const Observation* const behind = gap < observations().size() ? &observations()[gap] : nullptr;
    find_links(gap);
    Nanoseconds end = std::max(now_, gap > 0 ? observations()[gap - 1].end : now_);
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const Piece& piece = pieces_[i];
      calls_.end(links_[i], end);
      calls_.begin(piece.stack, piece.start, piece.known_from);
      if (piece.end > piece.start) calls_.spend(piece.stack, piece.end - piece.start);
      stack_ = piece.stack;
      now_ = end = std::max(now_, piece.end);
    }
    if (behind == nullptr) return;
    calls_.end(links_.back(), end);
    const bool is_unseen = pieces_.empty() && is_between(gap);
    const Nanoseconds start = is_unseen ? std::max(end, std::min(times_[gap].begin, behind->start)) : behind->start;
    calls_.begin(behind->stack, start, behind->start);
    if (is_unseen && behind->start > start) calls_.spend(behind->stack, behind->start - start);
    stack_ = behind->stack;
    now_ = behind->end;
  }

  // How many calls go on from the observation before to the first piece, from piece to piece, and on to the observation
  // behind.
  void find_links(std::size_t gap) {
    links_.clear();
    StackNumber before = stack_;
    Nanoseconds seen = now_;
    const auto add = [&](StackNumber stack, Nanoseconds time) {
      const bool is_apart = !is_between(gap) && time - seen > kLatestSample * period_;
      links_.push_back(is_apart || before == kNoFrames ? 0 : stacks_.shared(before, stack));
      before = stack;
      seen = time;
    };
    for (const Piece& piece : pieces_) add(piece.stack, piece.known_from);
    if (gap == observations().size()) return;
    const Observation& behind = observations()[gap];
    add(behind.stack, behind.start);
    // Where the operator says that fewer calls go on, the others began anew: as soon as they can.
    since_told_ = std::min(since_told_, *std::ranges::min_element(links_));
    if (behind.kept_frames < 0) return;
    const auto kept = static_cast<std::size_t>(behind.kept_frames);
    if (since_told_ > kept) links_.front() = std::min(links_.front(), kept);
    since_told_ = kAll;
  }

  const SeenStacks& stacks_;
  Outside outside_;
  std::vector<Interval> pauses_;
  std::vector<SeenSample> samples_;
  Nanoseconds first_;
  Nanoseconds period_ = 0;
  GapClasses classes_;
  OpenCalls calls_;
  std::size_t next_pause_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> own_;  // samples of each gap
  std::vector<Interval> times_;                           // of each gap
  std::vector<std::uint64_t> between_;                    // of each gap
  std::vector<Piece> pieces_;                             // of the gap at hand
  std::vector<StackStretch> stretches_;
  std::vector<std::size_t> links_;
  StackNumber stack_ = kNoFrames;  // where the thread is, as far as it was followed
  Nanoseconds now_ = 0;
  std::size_t since_told_ = kAll;  // the fewest calls that went on since an operator last said how many
};

}  // namespace

std::vector<MadeCall> calls_of(SeenThread thread, SeenStacks& stacks, Nanoseconds first) {
  return Reconstruction(std::move(thread), stacks, first).run();
}

}  // namespace telltale::tell
