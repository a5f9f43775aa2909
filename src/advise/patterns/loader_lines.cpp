#include "advise/patterns/loader_lines.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/call_stacks.h"
#include "analysis/source_line.h"

namespace telltale {
namespace {

constexpr std::size_t kMostCalls = 200;  // that are looked at: enough to tell shares of time

// "<waits for sleep>" → "sleep"; a built-in that sleeps says so by its own name.
std::string_view wait_named(std::string_view name) {
  constexpr std::string_view kPrefix = "<waits for ";
  if (name == "<built-in function sleep>") return "sleep";
  if (!name.starts_with(kPrefix) || !name.ends_with('>')) return {};
  return name.substr(kPrefix.size(), name.size() - kPrefix.size() - 1);
}

// The key of most time.
auto costliest_of(const auto& times) {
  return std::ranges::max_element(times, {}, [](const auto& each) { return each.second; })->first;
}

// What functions take, by line and by what they wait for.
class TimeByLine {
 public:
  void add(const SourceLine& line, std::string_view waits_for, double time) {
    Function& function = functions_[{line.file, line.function}];
    function.time += time;
    function.time_on[line.line] += time;
    function.time_waiting[std::string(waits_for)] += time;
  }

  // The function that takes the most, with its costliest line.
  std::optional<LoaderLine> costliest(double total) const {
    const auto time = [](const auto& place_and_times) { return place_and_times.second.time; };
    const auto most = std::ranges::max_element(functions_, {}, time);
    if (most == functions_.end() || time(*most) < kTellingShare * total) return std::nullopt;
    const auto& [place, times] = *most;
    return LoaderLine{place.first, costliest_of(times.time_on), place.second, costliest_of(times.time_waiting),
                      std::min(1.0, times.time / total)};
  }

 private:
  struct Function {
    double time = 0;
    std::map<int, double> time_on;
    std::map<std::string, double> time_waiting;
  };

  std::map<std::pair<std::string, std::string>, Function> functions_;  // by file and name
};

using LineId = std::size_t;
constexpr LineId kNoLine = 0;

// The lines of events as source_line() has them, each told once by a number.
class EventLines {
 public:
  explicit EventLines(const Trace& trace) : trace_(trace), lines_(1) {}

  // Of the events in [call, end), a call with all that it contains: callers come before what they call.
  std::vector<LineId> within(EventId call, EventId end) {
    std::vector<LineId> line_of(end - call, kNoLine);
    for (EventId event = call; event < end; ++event)
      line_of[event - call] = event > call && is_as_around(event) ? line_of[trace_.events.parent[event] - call]
                                                                  : id_of(source_line(trace_, event));
    return line_of;
  }

  std::size_t size() const { return lines_.size(); }
  const std::optional<SourceLine>& operator[](LineId line) const { return lines_[line]; }

 private:
  // An operator of which nothing more is known stands on the line of what called it.
  bool is_as_around(EventId event) const {
    const Events& events = trace_.events;
    const EventId around = events.parent[event];
    return events.kind[event] == Kind::kOperator && events.cause[event] == kNoEvent &&
           (events.kind[around] == Kind::kOperator || events.kind[around] == Kind::kPython) &&
           events.end(event) <= events.end(around) && !is_left_open(trace_, around) &&
           (trace_.operator_stacks.empty() || trace_.operator_stacks.find(event) == nullptr) &&
           (trace_.sources.empty() || trace_.sources.find(event) == nullptr);
  }

  LineId id_of(std::optional<SourceLine> line) {
    if (!line) return kNoLine;
    const auto [known, is_new] = ids_.try_emplace({line->file, line->line, line->function}, lines_.size());
    if (is_new) lines_.push_back(std::move(line));
    return known->second;
  }

  const Trace& trace_;
  std::vector<std::optional<SourceLine>> lines_;  // by number
  std::map<std::tuple<std::string, int, std::string>, LineId> ids_;
};

// Of the events in [call, end), a call with all that it contains: without what they contain.
std::vector<Nanoseconds> own_times(const Trace& trace, EventId call, EventId end) {
  std::vector<Nanoseconds> own(end - call);
  for (EventId event = call; event < end; ++event) {
    own[event - call] += trace.events.duration[event];
    if (event > call) own[trace.events.parent[event] - call] -= trace.events.duration[event];
  }
  return own;
}

}  // namespace

LoaderTime loader_time(const std::vector<LoaderLine>& lines) {
  if (lines.empty()) return {};
  TimeByLine times;
  double waiting = 0;
  for (const LoaderLine& line : lines) {
    if (!line.file.empty()) times.add({line.file, line.line, line.function}, line.waits_for, line.share);
    if (!line.waits_for.empty()) waiting += line.share;
  }
  return {times.costliest(1), std::min(1.0, waiting)};
}

LoaderTime loader_time(const Facts& facts, const std::vector<EventId>& calls) {
  const Trace& trace = facts.trace;
  EventLines lines(trace);
  std::vector<double> running;  // by line: the time in which it waits for nothing
  TimeByLine times;
  bool has_calls = false;
  double total = 0, waiting = 0;
  for (std::size_t i = 0; i < std::min(calls.size(), kMostCalls); ++i) {
    const EventId call = calls[i], end = subtree_end(trace, call);
    const std::vector<Nanoseconds> own = own_times(trace, call, end);
    const std::vector<LineId> line_of = lines.within(call, end);
    running.resize(lines.size());
    for (EventId event = call; event < end; ++event) {
      const auto time = static_cast<double>(own[event - call]);
      has_calls |= trace.events.kind[event] == Kind::kPython;
      if (time <= 0) continue;
      total += time;
      const std::string_view waits_for = wait_named(trace.name(event));
      if (!waits_for.empty()) waiting += time;
      const LineId line = line_of[event - call];
      if (line == kNoLine || line == line_of.front()) continue;
      if (waits_for.empty())
        running[line] += time;
      else
        times.add(*lines[line], waits_for, time);
    }
  }
  if (!has_calls || total <= 0) return {};
  for (LineId line = 0; line < running.size(); ++line)
    if (running[line] > 0) times.add(*lines[line], {}, running[line]);
  return {times.costliest(total), waiting / total};
}

}  // namespace telltale
