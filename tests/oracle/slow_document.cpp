#include "slow_document.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace telltale::oracle {
namespace {

constexpr int kMicrosecondsToNanoseconds = 3;
// Times up to the year 2096 and durations up to 31 years count; sums of them fit 64 bits.
constexpr Nanoseconds kLatestTime = 4'000'000'000'000'000'000;
constexpr Nanoseconds kLongestDuration = 1'000'000'000'000'000'000;
constexpr std::string_view kPhases = "XBEiIRCbneSTpFstfM";
constexpr std::string_view kPhasesWithoutTime = "NODvVc()=";

std::optional<std::int64_t> integer_text(std::string_view text) {
  const bool is_hexadecimal = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (is_hexadecimal) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return static_cast<std::int64_t>(value);
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_event(std::string_view raw) { return is_object(raw) && find(members_of(raw), "ph").has_value(); }

class EventReader {
 public:
  EventReader(std::string_view text, SlowDocument& document) : text_(text), document_(document) {}

  void read(std::string_view raw) {
    offset_ = static_cast<std::uint64_t>(raw.data() - text_.data());
    if (!is_object(raw)) return note(Anomaly::kNotAnEvent);
    members_ = members_of(raw);
    SlowEvent event;
    event.byte_offset = offset_;

    has_number_out_of_range_ = false;
    event.name = text("name");
    event.category = text("cat");
    event.process = id("pid");
    event.thread = id("tid");
    event.id = id("id");
    event.binds_to_enclosing = unquoted(find(members_, "bp").value_or("")) == "e";
    const auto time = nanoseconds("ts", kLatestTime);
    const auto duration = nanoseconds("dur", kLongestDuration);
    if (has_number_out_of_range_) note(Anomaly::kNumberOutOfRange);
    if (const auto pid = find(members_, "pid")) event.has_text_process = !is_integer(*pid);
    event.raw_arguments = find(members_, "args").value_or("");
    if (is_object(event.raw_arguments)) event.arguments = members_of(event.raw_arguments);

    const auto phase = find(members_, "ph");
    if (!phase) return note(Anomaly::kMissingPhase);
    const std::string_view letter = unquoted(*phase);
    if (letter == "P") return note(Anomaly::kUnreadSample);
    if (letter.size() == 1 && kPhasesWithoutTime.contains(letter[0])) return note(Anomaly::kUnreadPhase);
    if (letter.size() != 1 || kPhases.find(letter[0]) == std::string_view::npos) return note(Anomaly::kUnknownPhase);
    event.phase = letter[0];
    if (!time && event.phase != 'M') return note(Anomaly::kMissingTime);
    event.time = time.value_or(0);
    if (event.phase == 'X') {
      if (!duration) note(Anomaly::kMissingDuration);
      if (duration && *duration < 0) note(Anomaly::kNegativeDuration);
      event.duration = std::max<Nanoseconds>(duration.value_or(0), 0);
    }
    document_.events.push_back(std::move(event));
  }

 private:
  void note(Anomaly anomaly) { document_.anomalies.add(anomaly, offset_); }

  std::string text(std::string_view key) const {
    const auto raw = find(members_, key);
    return raw ? text_of(*raw) : std::string();
  }

  std::optional<Nanoseconds> nanoseconds(std::string_view key, Nanoseconds limit) {
    const auto raw = find(members_, key);
    if (!raw) return std::nullopt;
    const ExactInteger number = number_in(*raw, kMicrosecondsToNanoseconds);
    if (number.outcome == ExactInteger::Outcome::kNotANumber) return std::nullopt;
    const bool is_too_large = number.outcome == ExactInteger::Outcome::kTooLarge || std::abs(number.value) > limit;
    has_number_out_of_range_ |= is_too_large;
    return is_too_large ? std::nullopt : std::optional(number.value);
  }

  static bool is_integer(std::string_view raw) {
    if (is_number(raw) && number_in(raw).outcome == ExactInteger::Outcome::kFits) return true;
    return integer_text(unquoted(raw)).has_value();
  }

  SlowId id(std::string_view key) {
    const auto raw = find(members_, key);
    if (!raw) return {};
    if (is_number(*raw)) {
      const ExactInteger number = number_in(*raw);
      if (number.outcome == ExactInteger::Outcome::kFits) return {number.value, {}};
      has_number_out_of_range_ = true;
    }
    if (const auto number = integer_text(unquoted(*raw))) return {*number, {}};
    return {0, text_of(*raw)};
  }

  std::string_view text_;
  SlowDocument& document_;
  std::uint64_t offset_ = 0;
  std::vector<JsonMember> members_;
  bool has_number_out_of_range_ = false;
};

void count_samples(std::string_view list, std::string_view text, Anomalies& anomalies) {
  for (std::size_t i = 0; i < elements_of(list).size(); ++i)
    anomalies.add(Anomaly::kUnreadSample, static_cast<std::uint64_t>(list.data() - text.data()));
}

}  // namespace

std::string text_of(std::string_view raw) {
  const auto text = decoded_string(raw);
  return text ? *text : std::string(raw);
}

ExactInteger number_in(std::string_view raw, int shift) {
  if (is_number(raw)) return shifted_decimal(raw, shift);
  return is_string(raw) ? shifted_decimal(unquoted(raw), shift) : ExactInteger{};
}

std::optional<SlowDocument> slow_document(std::string_view text) {
  if (!is_valid_json(text)) return std::nullopt;
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::string_view body = text;
  if (body.starts_with(kByteOrderMark)) body.remove_prefix(kByteOrderMark.size());
  body = trimmed(body);

  SlowDocument document;
  std::optional<std::string_view> list;
  if (is_array(body)) list = body;
  if (is_object(body)) {
    for (JsonMember& member : members_of(body)) {
      if (member.key == "samples" && is_array(member.raw)) count_samples(member.raw, text, document.anomalies);
      if (member.key != "traceEvents" || !is_array(member.raw))
        document.header.push_back(std::move(member));
      else if (list)
        document.anomalies.add(Anomaly::kRepeatedEventList,
                               static_cast<std::uint64_t>(member.raw.data() - text.data()));
      else
        list = member.raw;
    }
  }
  if (!list) return std::nullopt;
  const auto elements = elements_of(*list);
  const bool has_events = std::ranges::any_of(elements, is_event);
  if (is_array(body) && !elements.empty() && !has_events) return std::nullopt;  // some other JSON
  EventReader reader(text, document);
  for (const std::string_view raw : elements) reader.read(raw);
  return document;
}

}  // namespace telltale::oracle
