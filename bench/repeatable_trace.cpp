#include "repeatable_trace.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

namespace telltale::bench {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::string_view kStepPrefix = "\"ProfilerStep#";
constexpr std::string_view kEndOfRecording = "\"Record Window End\"";

std::optional<Numbering> numbering_of_argument(std::string_view key) {
  if (key == "correlation") return Numbering::kCorrelation;
  if (key == "External id") return Numbering::kExternal;
  if (key == "Ev Idx") return Numbering::kEventIndex;
  if (key == "Python id" || key == "Python parent id") return Numbering::kPython;
  if (key == "Sequence number") return Numbering::kSequence;
  if (key == "Record function id") return Numbering::kRecordFunction;
  return std::nullopt;
}

bool zero_means_none(Numbering numbering) {
  return numbering == Numbering::kCorrelation || numbering == Numbering::kExternal ||
         numbering == Numbering::kRecordFunction;
}

// Where `part` of `text` starts.
std::size_t offset_in(std::string_view text, std::string_view part) {
  return static_cast<std::size_t>(part.data() - text.data());
}

// The digits at the start of `token`, which is part of `text`; nothing when it does not start with a digit.
std::optional<MovingNumber> number_at(std::string_view token, std::string_view text, Numbering numbering) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error != std::errc{} || token.front() == '-') return std::nullopt;
  if (value == 0 && zero_means_none(numbering)) return std::nullopt;
  return MovingNumber{offset_in(text, token), static_cast<std::size_t>(end - token.data()), value, numbering};
}

// The fields of one event that decide what becomes of it, as the file writes them, quotes included.
struct EventTokens {
  std::string_view ph, cat, name, ts, dur, pid, id;
  std::vector<MovingNumber> arguments;  // offsets in the whole text
};

EventTokens tokens_of(ondemand::object& event, std::string_view text) {
  EventTokens tokens;
  for (auto field : event) {
    const std::string_view key = field.unescaped_key();
    ondemand::value value = field.value();
    if (key == "args" && value.type() == ondemand::json_type::object) {
      for (auto argument : value.get_object()) {
        const auto numbering = numbering_of_argument(argument.unescaped_key());
        if (!numbering) continue;
        const std::string_view token = argument.value().raw_json_token();
        if (const auto number = number_at(token, text, *numbering)) tokens.arguments.push_back(*number);
      }
      continue;
    }
    std::string_view* token = key == "ph"     ? &tokens.ph
                              : key == "cat"  ? &tokens.cat
                              : key == "name" ? &tokens.name
                              : key == "ts"   ? &tokens.ts
                              : key == "dur"  ? &tokens.dur
                              : key == "pid"  ? &tokens.pid
                              : key == "id"   ? &tokens.id
                                              : nullptr;
    if (token) *token = value.raw_json_token();
  }
  return tokens;
}

bool happens_once(const EventTokens& event) {
  const bool is_metadata = event.ph.starts_with("\"M\"");
  const bool is_about_the_recording = event.cat.starts_with("\"Trace\"") || event.pid.starts_with('"');
  return is_metadata || is_about_the_recording;
}

// Those of an event's numbers that differ from copy to copy, by offset in the whole text.
std::vector<MovingNumber> moving_numbers(const EventTokens& event, std::string_view text) {
  std::vector<MovingNumber> numbers;
  const auto add = [&](std::string_view token, Numbering numbering) {
    if (token.empty()) return;
    if (const auto number = number_at(token, text, numbering)) numbers.push_back(*number);
  };
  if (happens_once(event)) {
    // The recording lasts longer: its span grows and its end moves. All else about it stays.
    if (event.cat.starts_with("\"Trace\"")) add(event.dur, Numbering::kTime);
    if (event.name.starts_with(kEndOfRecording)) add(event.ts, Numbering::kTime);
    return numbers;
  }
  numbers = event.arguments;
  add(event.ts, Numbering::kTime);
  const bool is_launch_flow = event.cat.starts_with("\"ac2g\"") || event.cat.starts_with("\"async_cpu_to_gpu\"");
  add(event.id, is_launch_flow ? Numbering::kCorrelation : Numbering::kFlow);
  if (event.name.starts_with(kStepPrefix)) add(event.name.substr(kStepPrefix.size()), Numbering::kStep);
  std::ranges::sort(numbers, {}, &MovingNumber::offset);
  return numbers;
}

struct SourceEvent {
  std::string_view text;
  std::vector<MovingNumber> numbers;
  std::int64_t whole_microseconds = 0;  // it lasts
  bool once = false;
};

std::vector<SourceEvent> events_of(const simdjson::padded_string& source) {
  const std::string_view text(source);
  ondemand::parser parser;
  ondemand::document document = parser.iterate(source);
  std::vector<SourceEvent> events;
  for (auto element : document["traceEvents"].get_array()) {
    ondemand::object object = element.get_object();
    const std::string_view raw = object.raw_json();
    object.reset();
    const EventTokens tokens = tokens_of(object, text);
    SourceEvent& event = events.emplace_back();
    event.text = raw.substr(0, raw.rfind('}') + 1);
    event.numbers = moving_numbers(tokens, text);
    event.once = happens_once(tokens);
    std::from_chars(tokens.dur.data(), tokens.dur.data() + tokens.dur.size(), event.whole_microseconds);
  }
  if (events.size() < 2) throw simdjson::simdjson_error(simdjson::INDEX_OUT_OF_BOUNDS);
  return events;
}

void append_event(const SourceEvent& event, std::string_view text, MovingText& out) {
  const std::size_t from = offset_in(text, event.text);
  for (MovingNumber number : event.numbers) {
    number.offset = number.offset - from + out.text.size();
    out.numbers.push_back(number);
  }
  out.text += event.text;
}

// The smallest and largest value met of one numbering.
struct Range {
  std::int64_t low = std::numeric_limits<std::int64_t>::max();
  std::int64_t high = std::numeric_limits<std::int64_t>::min();
  void include(std::int64_t value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  std::int64_t size() const { return high < low ? 0 : high - low + 1; }
};

std::array<std::int64_t, kNumberingCount> strides_of(const std::vector<SourceEvent>& events) {
  std::array<Range, kNumberingCount> ranges;
  for (const SourceEvent& event : events) {
    if (event.once) continue;
    for (const MovingNumber& number : event.numbers) {
      Range& range = ranges[static_cast<std::size_t>(number.numbering)];
      range.include(number.value);
      // Both fractions that were cut off make less than two microseconds.
      if (number.numbering == Numbering::kTime) range.include(number.value + event.whole_microseconds + 2);
    }
  }
  std::array<std::int64_t, kNumberingCount> strides;
  std::ranges::transform(ranges, strides.begin(), &Range::size);
  return strides;
}

}  // namespace

RepeatableTrace repeatable_trace(std::string_view source) {
  const simdjson::padded_string padded(source);
  const std::string_view text(padded);
  const std::vector<SourceEvent> events = events_of(padded);

  RepeatableTrace trace;
  const auto begin_of = [&](const SourceEvent& event) { return offset_in(text, event.text); };
  const auto end_of = [&](const SourceEvent& event) { return begin_of(event) + event.text.size(); };
  trace.header = text.substr(0, begin_of(events[0]));
  trace.separator = text.substr(end_of(events[0]), begin_of(events[1]) - end_of(events[0]));
  trace.footer = text.substr(end_of(events.back()));
  for (const SourceEvent& event : events) {
    if (event.once) {
      if (trace.once_events++ > 0) trace.once.text += trace.separator;
      append_event(event, text, trace.once);
    } else {
      if (trace.repeated_events++ > 0) trace.repeated.text += trace.separator;
      append_event(event, text, trace.repeated);
    }
  }
  trace.stride = strides_of(events);
  return trace;
}

void append_copy(const MovingText& source, const RepeatableTrace& trace, std::int64_t copy, std::string& out) {
  std::size_t done = 0;
  for (const MovingNumber& number : source.numbers) {
    out.append(source.text, done, number.offset - done);
    std::array<char, 20> digits;
    const std::int64_t moved = number.value + copy * trace.stride[static_cast<std::size_t>(number.numbering)];
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), moved).ptr;
    out.append(digits.data(), end);
    done = number.offset + number.length;
  }
  out.append(source.text, done);
}

}  // namespace telltale::bench
