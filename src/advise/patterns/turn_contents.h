// What the turns of a loop go over, judged by what they call.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "advise/facts.h"
#include "advise/patterns/call_loops.h"
#include "trace/shapes.h"

namespace telltale {

class TurnReader {
 public:
  // The facts must outlive it.
  explicit TurnReader(const Facts& facts);

  // Of a loop whose turns begin with these calls, the last one ending before `end`. Nothing for layers, and for what
  // one call could not replace.
  std::optional<LoopOver> what_turns_are_over(std::span<const EventId> turns, EventId end) const;

  // Of the operators that a turn over a parameter calls, the share that a program needs which calls them for lists.
  float calls_left_by_lists(EventId turn, EventId end) const;

 private:
  // What one turn calls.
  struct Contents {
    int products = 0, products_behind_gates = 0;
    bool has_sigmoid = false, has_tanh = false, has_cell = false;
    bool has_lookup = false, has_attention_or_norm = false, has_convolution = false;
    bool picks_rows = false, picks_by_condition = false, takes_part = false;  // outside of modules
    bool changes_in_place = false;
    bool only_arithmetic = true;  // but for views and the like
    bool has_expert = false;      // by a module's name
  };
  // Of the modules that begin turns or stand in them.
  enum class Modules : std::uint8_t { kNone, kShared, kOneEach };

  Contents contents_of(EventId first, EventId end) const;
  Modules modules_of(std::span<const EventId> turns, EventId end) const;
  bool goes_over_parameters(std::span<const EventId> turns, EventId end) const;
  bool takes_other_parts(std::span<const EventId> turns, EventId end) const;
  std::size_t parts_given_by(EventId op) const;
  bool follows_a_split(std::span<const EventId> turns) const;

  const Facts& facts_;
  std::vector<std::uint8_t> roles_;  // by name of operators
  std::set<Shape> parameters_;       // shapes of what has gradients
  std::set<EventId> crossings_;      // operators that copy between host and device
};

}  // namespace telltale
