#include "record/pause_plan.h"

#include <algorithm>
#include <iterator>

namespace telltale::record {
namespace {

// Up to the first batch, and then two that warm up: no times of theirs count.
constexpr std::int64_t kUnsettled = 3;
// Where the first stretch can end: five steps that count are enough for a diagnosis of steps that are long enough for
// ten samples, and twenty of shorter ones. Fixed places keep ranks together.
constexpr std::int64_t kFirstEnds[] = {kUnsettled + 5, kUnsettled + 10, kUnsettled + 20};
constexpr std::int64_t kFirstNs = 50'000'000;

// The first of a pause does not count, which leaves five: see analysis/measured_step.h.
constexpr std::int64_t kPause = 6;
constexpr std::int64_t kSlot = 31, kRecorded = kSlot - kPause;
// What goes on for long has been seen when so many steps are recorded: one slot of five is from then on.
constexpr std::int64_t kMany = 125, kSlotsOfLater = 5;
// A stretch is at least so long: the first of its steps may be slower than the others.
constexpr std::int64_t kShortest = 6;
// The pause ends in the next slot that may be recorded, 155 steps later at most.
constexpr std::int64_t kLongEnough = static_cast<std::int64_t>(PausePlan::kLongestPause) - kSlot * kSlotsOfLater;

constexpr std::int64_t kFreeNs = 20'000'000, kShare = 20;  // a twentieth
// What takes longer waits for a device, which works on meanwhile.
constexpr std::int64_t kLongestChangeNs = 10'000'000;

}  // namespace

void RecentTimes::add(std::int64_t time) { times_[added_++ % kMost] = time; }

std::int64_t RecentTimes::median() const {
  const std::size_t count = std::min(added_, kMost);
  if (count == 0) return 0;
  std::int64_t sorted[kMost];
  std::copy_n(times_, count, sorted);
  std::int64_t* const middle = sorted + (count - 1) / 2;
  std::nth_element(sorted, middle, sorted + count);
  return *middle;
}

bool PausePlan::end_step(std::int64_t took_ns) {
  if (step_ >= kUnsettled) note(took_ns);
  ++step_;
  ++alike_;
  const bool is_next_recorded = records_next();
  if (is_next_recorded != is_recorded_) alike_ = 0;
  is_recorded_ = is_next_recorded;
  return is_recorded_;
}

void PausePlan::add_change(std::int64_t took_ns) {
  ++changes_;
  changes_ns_ += std::min(took_ns, kLongestChangeNs);
  passed_ns_ += took_ns;
}

void PausePlan::note(std::int64_t took_ns) {
  passed_ns_ += took_ns;
  if (is_recorded_) ++recorded_;
  if (alike_ > 0) (is_recorded_ ? with_ : without_).add(took_ns);
}

bool PausePlan::records_next() {
  if (first_end_ == 0 && is_first_stretch_over()) first_end_ = step_;
  if (first_end_ == 0) return true;
  const std::int64_t resumed = first_end_ + kPause;
  const std::int64_t place = step_ % kSlot;
  if (step_ < resumed || place >= kRecorded) return false;
  if (is_recorded_) return alike_ < kShortest || can_afford(1);
  if (place != 0 && step_ != resumed) return false;
  if (recorded_ >= kMany && step_ / kSlot % kSlotsOfLater != 0) return false;
  return alike_ >= kLongEnough || can_afford(kShortest);
}

bool PausePlan::is_first_stretch_over() const {
  const auto* const end = std::ranges::find(kFirstEnds, step_);
  return end != std::end(kFirstEnds) && (passed_ns_ >= kFirstNs || end + 1 == std::end(kFirstEnds));
}

// So many more recorded steps. Those behind a pause come with two more changes.
bool PausePlan::can_afford(std::int64_t steps) const {
  const std::int64_t cost = std::max(std::int64_t{0}, with_.median() - without_.median());
  const std::int64_t more_changes_ns = is_recorded_ || changes_ == 0 ? 0 : 2 * changes_ns_ / changes_;
  return changes_ns_ + more_changes_ns + (recorded_ + steps) * cost <=
         kFreeNs + (passed_ns_ + steps * without_.median()) / kShare;
}

}  // namespace telltale::record
