#include "advise/patterns/call_loops.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>

#include "advise/models/host_cost.h"
#include "advise/patterns/row_loops.h"
#include "advise/patterns/turn_contents.h"

namespace telltale {
namespace {

// Calls of one turn that compute something. Longer turns are steps of a program.
constexpr std::size_t kMostCallsInTurn = 32;

// What a call is, whichever instance or object it is of: "nn.Module: Embedding_7" is "nn.Module: Embedding", and
// "<built-in method mul of Tensor object at 0x7f>" is "<built-in method mul".
std::string_view without_instance(std::string_view name) {
  if (name.starts_with("<built-in")) return name.substr(0, name.find(" of "));
  if (!name.starts_with("nn.Module: ")) return name;
  const std::size_t end = name.find_last_not_of("0123456789");
  return end != std::string_view::npos && name[end] == '_' ? name.substr(0, end) : name;
}

// Not every recording says where the backward pass begins.
bool is_by_autograd(std::string_view name) { return name.contains("autograd::") || name.contains("Backward"); }

bool is_within_optimizer(const Trace& trace, EventId event) {
  for (EventId around = trace.events.parent[event]; around != kNoEvent; around = trace.events.parent[around])
    if (trace.name(around).starts_with("Optimizer.")) return true;
  return false;
}

class Search {
 public:
  explicit Search(const Facts& facts) : facts_(facts), reader_(facts), kinds_(facts.trace.strings.size()) {
    std::map<std::string_view, std::uint32_t> numbers;
    for (StringId name = 0; name < kinds_.size(); ++name)
      kinds_[name] = numbers.emplace(without_instance(facts.trace.strings[name]), name).first->second;
  }

  std::vector<CallLoop> run() {
    collect_calls();
    for (const auto& [body, calls] : calls_by_body_) search_body(calls);
    std::ranges::sort(found_, {}, &CallLoop::first);  // whatever the order of bodies
    return std::move(found_);
  }

 private:
  // Whether something may be the body of a loop: none of the operators and built-ins that a call is made of.
  bool may_be_body(EventId event) const {
    return facts_.trace.events.kind[event] != Kind::kOperator && !facts_.trace.name(event).starts_with("<built-in");
  }

  // What computes outside of the backward pass: calls that launch something or, without a device, operators.
  std::vector<EventId> computing_calls() const {
    std::vector<EventId> launches;
    if (!facts_.diagnosis.breakdown.has_device) {
      for (const EventId op : facts_.host_cost().leaves())
        if (facts_.phases[op] != Phase::kBackward && facts_.host_work[op] == HostWork::kOperators)
          launches.push_back(op);
    }
    for (const DeviceCall& call : facts_.diagnosis.kernels.calls)
      if (const EventId launch = facts_.trace.launch_of(call.event);
          launch != kNoEvent && facts_.phases[launch] != Phase::kBackward)
        launches.push_back(launch);
    std::ranges::sort(launches);
    return launches;
  }

  // These calls, by what they stand in.
  void collect_calls() {
    const Events& events = facts_.trace.events;
    std::vector<bool> is_collected(events.size());  // for what stands around it
    for (const EventId launch : computing_calls()) {
      EventId call = launch;
      for (EventId around = events.parent[call]; around != kNoEvent; around = events.parent[around]) {
        if (may_be_body(around)) {
          std::vector<EventId>& calls = calls_by_body_[around];
          if (calls.empty() || calls.back() != call) calls.push_back(call);
        }
        if (is_collected[around]) break;  // and so is all that stands around
        is_collected[around] = true;
        call = around;
      }
      if (events.parent[call] != kNoEvent) continue;
      std::vector<EventId>& calls = calls_by_body_[kOutside + events.track[call]];
      if (calls.empty() || calls.back() != call) calls.push_back(call);
    }
  }

  // Runs of calls that repeat themselves after every `length` of them, the shortest length first.
  void search_body(const std::vector<EventId>& calls) {
    std::vector<bool> is_taken(calls.size());
    const auto kind = [&](std::size_t i) { return kinds_[facts_.trace.events.name[calls[i]]]; };
    for (std::size_t length = 1; length <= kMostCallsInTurn && length * kLeastEqualTurns <= calls.size(); ++length) {
      for (std::size_t begin = 0; begin + length < calls.size();) {
        std::size_t equal = 0;  // calls that are as the one a turn later
        while (begin + equal + length < calls.size() && kind(begin + equal) == kind(begin + equal + length)) ++equal;
        const std::size_t turns = equal / length + 1;
        const auto taken = is_taken.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto count = static_cast<std::ptrdiff_t>(turns * length);
        if (turns >= kLeastEqualTurns && std::find(taken, taken + count, true) == taken + count &&
            add_loop({calls.data() + begin, turns * length}, length))
          std::fill_n(taken, count, true);
        begin += equal + 1;
      }
    }
  }

  bool add_loop(std::span<const EventId> calls, std::size_t length) {
    const Trace& trace = facts_.trace;
    if (!facts_.is_in_steps(calls.front()) || is_within_optimizer(trace, calls.front())) return false;
    if (std::ranges::any_of(calls.first(length), [&](EventId call) { return is_by_autograd(trace.name(call)); }))
      return false;
    CallLoop loop;
    for (std::size_t i = 0; i < calls.size(); i += length) loop.turns.push_back(calls[i]);
    loop.first = calls.front();
    loop.end = subtree_end(trace, calls.back());
    const std::optional<LoopOver> over = reader_.what_turns_are_over(loop.turns, loop.end);
    if (!over) return false;
    loop.over = *over;
    if (loop.over == LoopOver::kParameters) loop.calls_left = reader_.calls_left_by_lists(loop.turns[1], loop.turns[2]);
    found_.push_back(std::move(loop));
    return true;
  }

  static constexpr std::uint64_t kOutside = std::uint64_t{1} << 32;  // behind all events: what stands in none

  const Facts& facts_;
  TurnReader reader_;
  std::vector<std::uint32_t> kinds_;  // by name
  std::unordered_map<std::uint64_t, std::vector<EventId>> calls_by_body_;
  std::vector<CallLoop> found_;
};

}  // namespace

std::vector<CallLoop> find_call_loops(const Facts& facts) {
  std::vector<CallLoop> loops = Search(facts).run();
  for (const RowLoop& rows : facts.row_loops())
    loops.push_back({LoopOver::kRows, rows.turns, rows.calls.front(), subtree_end(facts.trace, rows.calls.back())});
  // A loop over rows that calls a cell, or picks rows for experts, is found as both.
  std::ranges::stable_sort(loops, [](const CallLoop& a, const CallLoop& b) {
    const bool is_a_of_rows = a.over == LoopOver::kRows, is_b_of_rows = b.over == LoopOver::kRows;
    return is_a_of_rows != is_b_of_rows ? is_b_of_rows : a.end - a.first > b.end - b.first;
  });
  // Turns that are steps make no loop in a step.
  std::erase_if(loops, [&](const CallLoop& loop) {
    const auto step_of = [&](EventId turn) { return step_at(facts.diagnosis.timing, facts.trace.events.start[turn]); };
    return step_of(loop.turns.front()) != step_of(loop.turns.back());
  });
  std::map<EventId, CallLoop> apart;  // by first event
  for (CallLoop& loop : loops) {
    const auto next = apart.lower_bound(loop.first);
    const bool meets_next = next != apart.end() && next->first < loop.end;
    const bool meets_last = next != apart.begin() && std::prev(next)->second.end > loop.first;
    if (!meets_next && !meets_last) apart.emplace(loop.first, std::move(loop));
  }
  std::vector<CallLoop> kept;
  for (auto& [first, loop] : apart) kept.push_back(std::move(loop));
  return kept;
}

}  // namespace telltale
