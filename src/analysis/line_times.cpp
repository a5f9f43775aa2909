#include "analysis/line_times.h"

#include <algorithm>
#include <tuple>

#include "analysis/call_stacks.h"
#include "base/interned_values.h"
#include "trace/stack_frame.h"

namespace telltale {
namespace {

using LineId = std::uint32_t;
constexpr LineId kNoLine = UINT32_MAX, kNotRead = UINT32_MAX - 1;

struct Line {
  StringId file = kEmptyString, function = kEmptyString;
  int line = 0;
  bool operator==(const Line&) const = default;
};
std::uint64_t hash_value(const Line& line) {
  return hash_with(hash_with(0, std::uint64_t{line.file} << 32 | line.function), static_cast<std::uint64_t>(line.line));
}

// The line of an event, as far as it is known.
struct Known {
  LineId line = kNoLine;
  bool is_open = false;  // a comprehension whose function was not found yet
};

// The line of each event, as source_line() has it, found for all of them at once.
class LineFinder {
 public:
  explicit LineFinder(const Trace& trace)
      : trace_(trace),
        callers_(callers(trace)),
        by_text_(trace.strings.size(), kNotRead),
        by_place_(trace.source_locations.size(), kNotRead),
        by_stack_(trace.strings.size(), Known{kNotRead}),
        around_(trace.events.size()),
        cause_(trace.events.size(), kNoEvent) {
    look_around();
  }

  const Callers& callers_of() const { return callers_; }

  LineId of(EventId event) {
    const Kind kind = trace_.events.kind[event];
    if (is_on_device(kind)) return line_of_work(event);
    // A module's call has no line of its own; what it contains may tell from where it was called.
    if (kind == Kind::kModule && !trace_.operator_stacks.empty()) {
      const auto line = source_line(trace_, event);
      return line ? interned(line->file, line->line, line->function) : kNoLine;
    }
    return along_causes(event);
  }

  SourceLine described(LineId id) const {
    const Line& line = lines_[id];
    return {std::string(names_[line.file]), line.line, std::string(names_[line.function])};
  }
  std::size_t size() const { return lines_.size(); }

 private:
  LineId interned(std::string_view file, int line, std::string_view function) {
    return lines_.intern({names_.intern(file), names_.intern(function), line});
  }

  LineId line_of(const StackFrame& frame) {
    return owner_of(frame.file) == CodeOwner::kLibrary ? kNoLine : interned(frame.file, frame.line, frame.function);
  }

  bool is_comprehension(LineId line) const {
    const std::string_view function = names_[lines_[line].function];
    return function == "<genexpr>" || function.ends_with("comp>");
  }

  // A comprehension stands in the function that calls it, where that is of its file.
  Known settled(LineId line, Known outer) const {
    if (line == kNoLine) return outer;
    if (!is_comprehension(line)) return {line};
    if (outer.line == kNoLine) return {line, true};
    return lines_[outer.line].file == lines_[line].file ? outer : Known{line};
  }

  LineId line_of_frame(StringId name) {
    LineId& line = by_text_[name];
    if (line == kNotRead) {
      const auto frame = split_frame(trace_.strings[name]);
      line = frame ? line_of(*frame) : kNoLine;
    }
    return line;
  }

  // Frames joined by ";", innermost first.
  Known line_of_stack(StringId stack) {
    if (by_stack_[stack].line != kNotRead) return by_stack_[stack];
    std::vector<LineId> lines;
    const std::string_view text = trace_.strings[stack];
    for (std::size_t start = 0; start < text.size();) {
      const std::size_t end = std::min(text.find(';', start), text.size());
      const auto frame = split_frame(text.substr(start, end - start));
      if (const LineId line = frame ? line_of(*frame) : kNoLine; line != kNoLine) lines.push_back(line);
      if (!lines.empty() && !is_comprehension(lines.back())) break;
      start = end + 1;
    }
    Known found;
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) found = settled(*line, found);
    return by_stack_[stack] = found;
  }

  LineId line_of_place(EventId event) {
    const std::uint32_t* const place = trace_.sources.empty() ? nullptr : trace_.sources.find(event);
    if (place == nullptr) return kNoLine;
    LineId& line = by_place_[*place];
    if (line == kNotRead) {
      const SourceLocation& location = trace_.source_locations[*place];
      line = line_of({trace_.strings[location.file], trace_.strings[location.function], location.line});
    }
    return line;
  }

  // From an event outwards, callers before what they call.
  void look_around() {
    for (EventId event = 0; event < trace_.events.size(); ++event) {
      const EventId caller = callers_.of[event];
      Known line = caller == kNoEvent ? Known{} : around_[caller];
      const OperatorStack* const stack = trace_.operator_stacks.empty() ? nullptr : trace_.operator_stacks.find(event);
      if (stack != nullptr) line = joined(line_of_stack(stack->call_stack), line);
      if (trace_.events.kind[event] == Kind::kPython) line = settled(line_of_frame(trace_.events.name[event]), line);
      around_[event] = settled(line_of_place(event), line);
      cause_[event] = trace_.events.cause[event];
      if (cause_[event] == kNoEvent && caller != kNoEvent) cause_[event] = cause_[caller];
    }
  }

  Known joined(Known inner, Known outer) const {
    return inner.is_open ? settled(inner.line, outer) : inner.line == kNoLine ? outer : inner;
  }

  // From device work to its launch, from a backward operator to its forward one; a double backward pass needs one more.
  LineId along_causes(EventId event) const {
    constexpr int kMostCauses = 5;
    Known found;
    for (int step = 0; step < kMostCauses && event != kNoEvent; ++step, event = cause_[event]) {
      found = joined(found, around_[event]);
      if (found.line != kNoLine && !found.is_open) break;
    }
    return found.line;
  }

  LineId line_of_work(EventId work) {
    if (const LineId own = line_of_place(work); own != kNoLine) return own;
    const GraphOrigin* const origin = trace_.graph_origins.empty() ? nullptr : trace_.graph_origins.find(work);
    if (origin != nullptr) {
      if (const LineId captured = along_causes(origin->captured_in); captured != kNoLine) return captured;
      if (const LineId told = line_of_stack(origin->call_stack).line; told != kNoLine) return told;
    }
    return along_causes(work);
  }

  const Trace& trace_;
  Callers callers_;
  InternedStrings names_;
  InternedValues<Line> lines_;
  std::vector<LineId> by_text_;   // of frames, by string
  std::vector<LineId> by_place_;  // of source locations
  std::vector<Known> by_stack_;   // of stacks as text, by string
  std::vector<Known> around_;     // by event: as it and those around it tell
  std::vector<EventId> cause_;    // by event: that of the innermost around it which has one, itself included
};

struct Sums {
  Nanoseconds host = 0, device = 0;
  std::int64_t calls = 0;
  EventId example = kNoEvent;
};

class Counting {
 public:
  Counting(const Trace& trace, const StepTiming& timing)
      : trace_(trace),
        window_{timing.steps.front().host.begin, timing.steps.back().host.end},
        steps_(std::ssize(timing.steps)),
        finder_(trace) {}

  LineTimes counted() {
    std::vector<LineId> line_of(trace_.events.size(), kNoLine);
    for (EventId event = 0; event < trace_.events.size(); ++event)
      if (!is_on_device(trace_.events.kind[event]) && is_on_thread(event)) count_call(event, line_of);
    for (EventId event = 0; event < trace_.events.size(); ++event)
      if (is_device_work(trace_.events.kind[event])) count_work(event);
    return written();
  }

 private:
  bool is_on_thread(EventId event) const {
    return trace_.tracks[trace_.events.track[event]].kind == TrackKind::kThread;
  }

  Sums& sums_of(LineId line) {
    if (line == kNoLine) return elsewhere_;
    if (line >= sums_.size()) sums_.resize(std::max(finder_.size(), std::size_t{line} + 1));
    return sums_[line];
  }

  Nanoseconds time_in_steps(EventId event) const {
    const Nanoseconds begin = std::max(trace_.events.start[event], window_.begin);
    return std::max<Nanoseconds>(0, std::min(trace_.events.end(event), window_.end) - begin);
  }

  // Its time is its line's, but for what it calls.
  void count_call(EventId event, std::vector<LineId>& line_of) {
    if (finder_.callers_of().is_left_open[event]) return;
    const Nanoseconds time = time_in_steps(event);
    const bool begins = trace_.events.start[event] >= window_.begin && trace_.events.start[event] < window_.end;
    if (time == 0 && !begins) return;
    const LineId line = line_of[event] = finder_.of(event);
    const EventId caller = finder_.callers_of().of[event];
    const LineId outer = caller == kNoEvent ? kNoLine : line_of[caller];
    if (caller != kNoEvent) sums_of(outer).host -= time;
    Sums& sums = sums_of(line);
    sums.host += time;
    if (begins && (caller == kNoEvent || outer != line)) ++sums.calls;
    if (begins && (sums.example == kNoEvent || trace_.events.duration[event] > trace_.events.duration[sums.example]))
      sums.example = event;
  }

  void count_work(EventId work) {
    const EventId launch = trace_.events.cause[work];
    if (launch == kNoEvent || trace_.events.start[launch] < window_.begin || trace_.events.start[launch] >= window_.end)
      return;
    Sums& sums = sums_of(finder_.of(work));
    sums.device += trace_.events.duration[work];
    if (sums.example == kNoEvent) sums.example = work;
  }

  LineTimes written() const {
    LineTimes times;
    times.steps = steps_;
    times.host_elsewhere_ns = elsewhere_.host / steps_;
    times.device_elsewhere_ns = elsewhere_.device / steps_;
    for (LineId line = 0; line < sums_.size(); ++line) {
      const Sums& sums = sums_[line];
      if (sums.host == 0 && sums.device == 0 && sums.calls == 0) continue;
      SourceLine source = finder_.described(line);
      const CodeOwner owner = owner_of(source.file);
      times.lines.push_back(
          {std::move(source), owner, sums.host / steps_, sums.device / steps_, sums.calls, sums.example});
    }
    std::ranges::sort(times.lines, [](const LineTime& a, const LineTime& b) {
      return std::tie(b.device_ns, b.host_ns, a.source.file, a.source.line, a.source.function) <
             std::tie(a.device_ns, a.host_ns, b.source.file, b.source.line, b.source.function);
    });
    return times;
  }

  const Trace& trace_;
  Interval window_;
  Nanoseconds steps_;
  LineFinder finder_;
  std::vector<Sums> sums_;  // by line
  Sums elsewhere_;
};

}  // namespace

std::string_view name_of(CodeOwner owner) {
  switch (owner) {
    case CodeOwner::kUser:
      return "user";
    case CodeOwner::kPackage:
      return "package";
    case CodeOwner::kLibrary:
      break;
  }
  return "library";
}

LineTimes line_times(const Trace& trace, const StepTiming& timing) { return Counting(trace, timing).counted(); }

}  // namespace telltale
