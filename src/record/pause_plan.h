// Which steps of a recording of everything are left unrecorded: those that tell what recording costs, and as many more
// as it takes for the program to be hardly slower than without it.
//
// The first steps are recorded, six are not, and from then on each 31 steps begin with some that are: 25, or as many as
// the program can afford. What recording has cost so far may come to a twentieth of the time that passed, and to 20 ms
// more, so that short steps are seen often enough. A program that is not slowed down by more than that is recorded but
// for six of 31 steps and, when many have been recorded, 25 of each 155 from then on.
//
// 31 and 155 divide few lengths of epochs, so that the beginnings of epochs fall on recorded steps as often as any
// others. Ranks that wait for each other take the same time for a step, and so mostly leave the same ones out.
//
// Knows no clock. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

namespace telltale::record {

// The last few times that were added.
class RecentTimes {
 public:
  void add(std::int64_t time);
  // The lower of the middle two where there are two; 0 of none.
  std::int64_t median() const;

 private:
  static constexpr std::size_t kMost = 16;
  std::int64_t times_[kMost] = {};
  std::size_t added_ = 0;
};

class PausePlan {
 public:
  // No pause has more steps.
  static constexpr std::size_t kLongestPause = 1100;

  // The step at hand took so long. Whether the next one is to be recorded; the first one is.
  bool end_step(std::int64_t took_ns);
  // What feeds the recorder took so long to stop for a pause, or to start again behind it: a cost as well.
  void add_change(std::int64_t took_ns);

 private:
  void note(std::int64_t took_ns);
  bool records_next();
  bool is_first_stretch_over() const;
  bool can_afford(std::int64_t steps) const;

  std::int64_t step_ = 0;  // the one at hand
  bool is_recorded_ = true;
  std::int64_t alike_ = 0;      // steps before the one at hand that were recorded, or not, as it is
  std::int64_t first_end_ = 0;  // the first step that is left out; 0 as long as there is none
  std::int64_t passed_ns_ = 0;  // in steps that count
  std::int64_t recorded_ = 0;   // of them
  RecentTimes with_, without_;  // recording
  std::int64_t changes_ = 0, changes_ns_ = 0;
};

}  // namespace telltale::record
