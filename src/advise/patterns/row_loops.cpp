#include "advise/patterns/row_loops.h"

#include <algorithm>
#include <unordered_map>

#include "trace/shapes.h"

namespace telltale {
namespace {

bool takes_a_row(std::string_view name) {
  return name == "aten::select" || name == "aten::slice" || name == "aten::narrow" || name == "aten::index";
}

// What the taking operators of one loop have in common: the shape of the tensor that they take from.
struct RowTaken {
  StringId name, shapes;
  bool operator==(const RowTaken&) const = default;
};

RowTaken row_taken(const Trace& trace, EventId op) {
  const OperatorInfo* info = trace.operators.find(op);
  const bool has_inputs = info != nullptr && info->inputs != OperatorInfo::kNoInputs;
  return {trace.events.name[op], has_inputs ? trace.operator_inputs[info->inputs].shapes : kEmptyString};
}

// Where values are recorded, a loop takes another row in each turn; layers of a model take the same one of theirs.
// Without values, only a Python function around them tells a loop from layers.
bool takes_different_rows(const Trace& trace, EventId body, const std::vector<EventId>& takers) {
  const bool has_frame = trace.events.kind[body] == Kind::kPython;
  std::vector<StringId> rows;
  for (const EventId op : takers) {
    const OperatorInfo* info = trace.operators.find(op);
    if (info == nullptr || info->inputs == OperatorInfo::kNoInputs) return has_frame;
    const StringId concrete = trace.operator_inputs[info->inputs].concrete;
    if (concrete == kEmptyString) return has_frame;
    rows.push_back(concrete);
  }
  std::sort(rows.begin(), rows.end());
  const auto distinct = std::unique(rows.begin(), rows.end()) - rows.begin();
  return 2 * distinct > std::ssize(takers);
}

// Whether an operator takes along the first dimension, as far as values are recorded. Along others loops go over
// columns that mean different things, or over time, where a turn needs the one before it.
bool takes_along_rows(const Trace& trace, EventId op) {
  const OperatorInfo* info = trace.operators.find(op);
  if (info == nullptr || info->inputs == OperatorInfo::kNoInputs) return true;
  const std::vector<std::string> values = concrete_values(trace.strings[trace.operator_inputs[info->inputs].concrete]);
  return values.size() < 2 || values[1].empty() || values[1] == "0";
}

// The child of `parent` that contains the event, or is it.
EventId child_around(const Events& events, EventId event, EventId parent) {
  while (events.parent[event] != parent) event = events.parent[event];
  return event;
}

// The nearest event around a taking operator that can be the body of a loop: none of the operators and built-ins that
// the taking itself is made of.
EventId loop_body_around(const Facts& facts, EventId op) {
  const Events& events = facts.trace.events;
  EventId around = events.parent[op];
  while (around != kNoEvent &&
         (events.kind[around] == Kind::kOperator || facts.trace.name(around).starts_with("<built-in")))
    around = events.parent[around];
  return around;
}

RowLoop loop_from(const Facts& facts, EventId parent, const std::vector<EventId>& takers) {
  const Events& events = facts.trace.events;
  RowLoop loop;
  loop.parent = parent;
  for (const EventId op : takers) loop.turns.push_back(child_around(events, op, parent));
  loop.turns.erase(std::unique(loop.turns.begin(), loop.turns.end()), loop.turns.end());
  if (loop.turns.size() < 2) return loop;
  const EventId first = loop.turns.front(), last = loop.turns.back();
  // The last turn is as long as the one before it.
  const Nanoseconds turn = events.start[last] - events.start[loop.turns[loop.turns.size() - 2]];
  const Nanoseconds end = std::min(events.start[last] + turn, events.end(parent));
  const EventId behind = subtree_end(facts.trace, parent);
  for (EventId event = first; event < behind && events.start[event] < end; ++event)
    if (events.parent[event] == parent) loop.calls.push_back(event);
  loop.duration = events.end(loop.calls.back()) - events.start[first];
  return loop;
}

// Whether turns call the same things: a list of layers calls another module in each, and what looks up an embedding
// takes each column to a table of its own.
bool has_equal_turns(const Facts& facts, const RowLoop& loop) {
  const EventId second_turn_end = loop.turns[std::min<std::size_t>(2, loop.turns.size() - 1)];
  for (EventId event = loop.turns.front(); event < second_turn_end; ++event)
    if (facts.trace.name(event) == "aten::embedding") return false;
  const auto names_of_turn = [&](std::size_t turn) {
    std::vector<StringId> names;
    for (const EventId call : loop.calls)
      if (call >= loop.turns[turn] && call < loop.turns[turn + 1] && facts.trace.events.kind[call] == Kind::kModule)
        names.push_back(facts.trace.events.name[call]);
    return names;
  };
  return loop.turns.size() < 4 || names_of_turn(1) == names_of_turn(2);
}

}  // namespace

std::vector<RowLoop> find_row_loops(const Facts& facts) {
  const Trace& trace = facts.trace;
  const std::vector<bool> is_taker = names_where(trace, takes_a_row);
  std::unordered_map<EventId, std::vector<EventId>> by_body;  // taking operators
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (trace.events.kind[event] != Kind::kOperator || !is_taker[trace.events.name[event]]) continue;
    if (facts.phases[event] == Phase::kBackward || !facts.is_in_steps(event) || !takes_along_rows(trace, event))
      continue;
    // What a loader does sample by sample is its own matter.
    if (!facts.diagnosis.breakdown.has_device && facts.host_work[event] == HostWork::kDataLoading) continue;
    const EventId body = loop_body_around(facts, event);
    if (body != kNoEvent) by_body[body].push_back(event);
  }
  std::vector<RowLoop> loops;
  for (const auto& [body, takers] : by_body) {
    const RowTaken taken = row_taken(trace, takers.front());
    std::vector<EventId> alike;
    std::copy_if(takers.begin(), takers.end(), std::back_inserter(alike),
                 [&](EventId op) { return row_taken(trace, op) == taken; });
    if (alike.size() < kLeastTurns || !takes_different_rows(trace, body, alike)) continue;
    RowLoop loop = loop_from(facts, body, alike);
    if (loop.turns.size() >= kLeastTurns && has_equal_turns(facts, loop)) loops.push_back(std::move(loop));
  }
  std::sort(loops.begin(), loops.end(), [](const RowLoop& a, const RowLoop& b) { return a.parent < b.parent; });
  return loops;
}

}  // namespace telltale
