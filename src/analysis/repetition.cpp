#include "analysis/repetition.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/thread_calls.h"

namespace telltale {
namespace {

// A call that comes less often than this is no loop: a model may be called twice for one result.
constexpr std::size_t kLeastCalls = 3;
// Shorter sequences of operators are parts of a layer rather than passes.
constexpr std::size_t kLeastOperators = 4;
// Of the time of the calls beside it: what comes now and then, such as logging, begins no period.
constexpr double kShareThatMatters = 0.1;
// Of the periods, and of the time in them: the first may differ from the others, and what is done now and then.
constexpr double kShareAlike = 0.8;

using Places = std::vector<std::size_t>;  // of calls in a list, ascending

Nanoseconds work_in(std::span<const Call> calls) {
  Nanoseconds total = 0;
  for (const Call& call : calls) total += call.work;
  return total;
}

bool is_share(Nanoseconds part, double share, Nanoseconds whole) {
  return static_cast<double>(part) >= share * static_cast<double>(whole);
}

std::map<StringId, Places> places_by_name(const Calls& calls) {
  std::map<StringId, Places> places;
  for (std::size_t i = 0; i < calls.size(); ++i) places[calls[i].name].push_back(i);
  return places;
}

// How often a name comes in each period, where that is the same in nearly all of them; else 0. A period goes from one
// of the ascending begins to the next; what is before the first and behind the last does not count.
std::size_t times_a_period(const Places& places, const Places& begins) {
  std::map<std::size_t, std::size_t> periods_by_times;
  auto place = std::ranges::lower_bound(places, begins.front());
  for (std::size_t i = 1; i < begins.size(); ++i) {
    const auto behind = std::ranges::lower_bound(place, places.end(), begins[i]);
    ++periods_by_times[static_cast<std::size_t>(behind - place)];
    place = behind;
  }
  const auto usual = std::ranges::max_element(periods_by_times, {}, [](const auto& entry) { return entry.second; });
  const auto periods = static_cast<double>(begins.size() - 1);
  return static_cast<double>(usual->second) >= kShareAlike * periods ? usual->first : 0;
}

// Periods of calls that say what they are for: ranges, functions and modules.
class LoopOfCalls {
 public:
  LoopOfCalls(const Trace& trace, const Calls& calls)
      : trace_(trace), calls_(calls), places_(places_by_name(calls)), total_(work_in(calls)) {}

  std::vector<Interval> passes(Nanoseconds whole) const {
    for (const Places* begins : calls_that_matter()) {
      const std::map<StringId, std::size_t> regular = regular_calls(*begins);
      Nanoseconds covered = 0;
      for (const auto& [name, times] : regular) covered += time_of(places_.at(name));
      if (is_share(covered, kShareAlike, total_) && covered * 2 >= whole) return passes_from(*begins, regular);
    }
    return {};
  }

 private:
  Nanoseconds time_of(const Places& places) const {
    Nanoseconds total = 0;
    for (const std::size_t place : places) total += calls_[place].work;
    return total;
  }

  // A file of Python runs from its top to its end once: several calls of it are pieces of one.
  bool may_repeat(StringId name) const { return !trace_.strings[name].ends_with(": <module>"); }

  // Those that come least often first: their periods are the outermost.
  std::vector<const Places*> calls_that_matter() const {
    std::vector<const Places*> found;
    for (const auto& [name, places] : places_)
      if (places.size() >= kLeastCalls && is_share(time_of(places), kShareThatMatters, total_) && may_repeat(name))
        found.push_back(&places);
    std::ranges::sort(found, {}, [](const Places* places) { return std::pair(places->size(), places->front()); });
    return found;
  }

  std::map<StringId, std::size_t> regular_calls(const Places& begins) const {
    std::map<StringId, std::size_t> regular;
    for (const auto& [name, places] : places_)
      if (const std::size_t times = times_a_period(places, begins); times > 0) regular.emplace(name, times);
    return regular;
  }

  // A pass begins with the first of the calls that come once in each.
  std::vector<Interval> passes_from(const Places& begins, const std::map<StringId, std::size_t>& regular) const {
    const Places* first = &begins;
    for (const auto& [name, times] : regular) {
      const Places& places = places_.at(name);
      // The last pass may have been cut behind its first call.
      const bool comes_once = times == 1 && places.size() - begins.size() <= 1;
      if (comes_once && places.front() < first->front()) first = &places;
    }
    std::vector<Interval> passes;
    for (std::size_t i = 1; i < first->size(); ++i)
      passes.push_back({calls_[(*first)[i - 1]].start, calls_[(*first)[i]].start});
    if (const auto end = end_of_last(first->back(), regular)) passes.push_back({calls_[first->back()].start, *end});
    return passes;
  }

  // Nothing where the recording ends before the last pass does.
  std::optional<Nanoseconds> end_of_last(std::size_t begin, const std::map<StringId, std::size_t>& regular) const {
    Nanoseconds end = 0;
    for (const auto& [name, times] : regular) {
      const Places& places = places_.at(name);
      const auto inside = std::ranges::lower_bound(places, begin);
      const bool matters = is_share(time_of(places), kShareThatMatters, total_);
      if (matters && static_cast<std::size_t>(places.end() - inside) < times) return std::nullopt;
      if (inside != places.end()) end = std::max(end, calls_[places.back()].end);
    }
    return end;
  }

  const Trace& trace_;
  const Calls& calls_;
  std::map<StringId, Places> places_;
  Nanoseconds total_;
};

// Sequences of calls, compared by name. Equal hashes are taken for equal sequences only after a look at the names.
class Sequences {
 public:
  explicit Sequences(const Calls& calls) : calls_(calls), hash_(calls.size() + 1), power_(calls.size() + 1, 1) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      hash_[i + 1] = hash_[i] * kBase + (calls[i].name + 1) * kSpread;
      power_[i + 1] = power_[i] * kBase;
    }
  }

  std::uint64_t hash(std::size_t begin, std::size_t end) const {
    return hash_[end] - hash_[begin] * power_[end - begin];
  }
  bool are_alike(std::size_t a, std::size_t b, std::size_t length) const {
    for (std::size_t i = 0; i < length; ++i)
      if (calls_[a + i].name != calls_[b + i].name) return false;
    return true;
  }
  // How many calls before two places are alike, at most so many.
  std::size_t alike_before(std::size_t a, std::size_t b, std::size_t most) const {
    std::size_t alike = 0;
    while (alike < std::min({a, b, most}) && calls_[a - alike - 1].name == calls_[b - alike - 1].name) ++alike;
    return alike;
  }

 private:
  static constexpr std::uint64_t kBase = 0x9e3779b97f4a7c15, kSpread = 0xbf58476d1ce4e5b9;
  const Calls& calls_;
  std::vector<std::uint64_t> hash_, power_;
};

// Periods of operators with nothing around them.
class LoopOfOperators {
 public:
  explicit LoopOfOperators(const Calls& calls) : calls_(calls), sequences_(calls) {}

  std::vector<Interval> passes(Nanoseconds whole) const {
    const std::map<StringId, Places> by_name = places_by_name(calls_);
    std::vector<const Places*> candidates;
    for (const auto& [name, places] : by_name)
      if (places.size() > 1) candidates.push_back(&places);
    std::ranges::sort(candidates, {}, [](const Places* places) { return std::pair(places->size(), places->front()); });
    for (const Places* places : candidates) {
      std::vector<Interval> passes = passes_through(*places);
      if (passes.size() > 1 && (passes.back().end - passes.front().begin) * 2 >= whole) return passes;
    }
    return {};
  }

 private:
  struct Seen {
    std::size_t first, times;  // the first is one of the places
  };
  using SeenSequences = std::unordered_map<std::uint64_t, Seen>;  // by hash

  // The sequences from one of the places to the next.
  SeenSequences sequences_between(const Places& places) const {
    SeenSequences seen;
    for (std::size_t i = 1; i < places.size(); ++i)
      ++seen.try_emplace(sequences_.hash(places[i - 1], places[i]), Seen{i - 1, 0}).first->second.times;
    return seen;
  }

  // The one that nearly all of them have: where it first is, and its length.
  static std::optional<std::pair<std::size_t, std::size_t>> usual_sequence(const Places& places,
                                                                           const SeenSequences& seen) {
    const auto usual = std::ranges::max_element(seen, {}, [](const auto& entry) { return entry.second.times; });
    const auto [first, times] = usual->second;
    if (static_cast<double>(times) < kShareAlike * static_cast<double>(places.size() - 1)) return std::nullopt;
    return std::pair(places[first], places[first + 1] - places[first]);
  }

  // Whether what follows upon the last pass followed upon an earlier one, and another came behind it: such is the end
  // of an outer loop rather than the head of a network.
  bool ends_as_before(const Places& places, const SeenSequences& seen, std::size_t length) const {
    const std::size_t rest = calls_.size() - places.back();
    if (rest <= length) return false;
    const auto same = seen.find(sequences_.hash(places.back(), calls_.size()));
    if (same == seen.end()) return false;
    const std::size_t first = same->second.first;
    return places[first + 1] - places[first] == rest && sequences_.are_alike(places[first], places.back(), rest);
  }

  // Passes that each have one of the places in them.
  std::vector<Interval> passes_through(const Places& places) const {
    const SeenSequences seen = sequences_between(places);
    const auto usual = usual_sequence(places, seen);
    if (!usual || usual->second < kLeastOperators) return {};
    const auto [model, length] = *usual;
    const std::size_t rest = calls_.size() - places.back();
    const bool is_whole = ends_as_before(places, seen, length);
    if (rest > length && !is_whole) return {};
    if (!sequences_.are_alike(model, places.back(), std::min(rest, length))) return {};
    // What is before the first place belongs to its pass as far as it is what precedes the others.
    const std::size_t before = sequences_.alike_before(places.front(), model + length, length - 1);
    // A network's last operators may be those with which a layer begins: only a recording that begins within a pass is
    // taken to end within one.
    if (!is_whole && before + rest != length && before != places.front()) return {};
    std::vector<Interval> passes;
    for (std::size_t i = 1; i < places.size(); ++i)
      passes.push_back({calls_[places[i - 1] - before].start, calls_[places[i] - before].start});
    const std::size_t last = places.back() - before;
    if (is_whole)
      passes.push_back({calls_[last].start, calls_.back().end});
    else if (before + rest >= length)
      passes.push_back({calls_[last].start, calls_[last + length - 1].end});
    return passes;
  }

  const Calls& calls_;
  Sequences sequences_;
};

std::vector<Interval> passes_among(const Trace& trace, const Calls& calls, Nanoseconds whole) {
  Calls telling;
  std::ranges::copy_if(calls, std::back_inserter(telling),
                       [](const Call& call) { return call.kind != Kind::kOperator; });
  if (work_in(telling) * 2 >= work_in(calls)) return LoopOfCalls(trace, telling).passes(whole);
  return LoopOfOperators(calls).passes(whole);
}

// Inside a module are its layers, and inside an operator others.
bool may_hold_a_loop(const Trace& trace, const Call& call) {
  if (call.kind == Kind::kModule || call.kind == Kind::kOperator) return false;
  return !trace.strings[call.name].contains("torch/nn/modules/module.py");
}

// The calls of modules of one class, "nn.Module: Block_0", "nn.Module: Block_1", …; of the class that has the most.
Calls alike_modules(const Trace& trace, const Calls& calls) {
  std::map<std::string_view, Calls> by_class;
  for (const Call& call : calls) {
    const std::string_view name = trace.strings[call.name];
    if (call.kind == Kind::kModule) by_class[name.substr(0, name.find_last_not_of("0123456789") + 1)].push_back(call);
  }
  const auto most = std::ranges::max_element(by_class, {}, [](const auto& entry) { return entry.second.size(); });
  return most == by_class.end() ? Calls{} : std::move(most->second);
}

std::vector<Interval> parts_behind_first(const Call& pass, const Calls& alike) {
  if (alike.size() <= kLeastCalls) return {};
  const Nanoseconds warm = alike[1].start;
  const bool is_cold_before = (warm - pass.start) * 2 > pass.end - pass.start;
  const bool fill_the_rest = (alike.back().end - warm) * 2 >= pass.end - warm;
  if (!is_cold_before || !fill_the_rest) return {};
  std::vector<Interval> parts = {{pass.start, warm}};
  for (std::size_t i = 1; i < alike.size(); ++i)
    parts.push_back({alike[i].start, i + 1 < alike.size() ? alike[i + 1].start : alike[i].end});
  return parts;
}

std::vector<Interval> passes_of(const Trace& trace, const Track& thread, Work counted) {
  const ThreadCalls lists(trace, thread, counted);
  for (Calls calls = lists.outermost(); !calls.empty();) {
    std::vector<Interval> passes = passes_among(trace, calls, lists.work());
    if (!passes.empty()) return passes;
    const Call longest = *std::ranges::max_element(calls, {}, &Call::work);
    if (longest.work * 2 < lists.work() || !may_hold_a_loop(trace, longest)) break;
    calls = lists.inside(longest);
  }
  return {};
}

bool take_time_that_matters(const Trace& trace, const Track& thread, const std::vector<Interval>& passes) {
  const ThreadCalls lists(trace, thread, Work::kOperators);
  return is_share(lists.work_in({passes.front().begin, passes.back().end}), kShareThatMatters, lists.work());
}

}  // namespace

std::vector<Interval> repeated_passes(const Trace& trace) {
  const Track* thread = busiest_thread(trace);
  if (thread == nullptr) return {};
  for (const Work counted : {Work::kAll, Work::kOperators})
    if (std::vector<Interval> passes = passes_of(trace, *thread, counted); !passes.empty()) return passes;
  std::vector<Interval> passes = passes_of(trace, *thread, Work::kOperatorCount);
  return passes.empty() || !take_time_that_matters(trace, *thread, passes) ? std::vector<Interval>{} : passes;
}

std::vector<Interval> parts_of_cold_pass(const Trace& trace) {
  const Track* thread = busiest_thread(trace);
  if (thread == nullptr) return {};
  const ThreadCalls lists(trace, *thread);
  std::optional<Call> pass;  // the outermost module
  for (Calls calls = lists.outermost(); !calls.empty();) {
    if (pass) {
      std::vector<Interval> parts = parts_behind_first(*pass, alike_modules(trace, calls));
      if (!parts.empty()) return parts;
    }
    const Call longest = *std::ranges::max_element(calls, {}, &Call::work);
    if (longest.work * 2 < lists.work() || longest.kind == Kind::kOperator) break;
    if (!pass && longest.kind == Kind::kModule) pass = longest;
    calls = lists.inside(longest);
  }
  return {};
}

}  // namespace telltale
