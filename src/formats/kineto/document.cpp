#include "formats/kineto/document.h"

#include "base/json_text.h"
#include "formats/kineto/scan.h"

namespace telltale::kineto {
namespace {

constexpr std::string_view kEventListKey = "traceEvents";
constexpr std::string_view kSamplesKey = "samples";  // of a CPU profile, whose "stackFrames" they point at
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// How many elements a list has, which is known to be valid JSON.
std::uint64_t element_count(std::string_view list) {
  const char* end = list.data() + list.size();
  std::uint64_t count = 0;
  for (const char* p = skip_space(list.data() + 1); p < end && *p != ']'; ++count) {
    p = skip_space(skip_value(p, end));
    if (*p == ',') p = skip_space(p + 1);
  }
  return count;
}

enum class WalkEnd : std::uint8_t { kObjectEnd, kEventList, kIncomplete, kBroken };

// Walks the members of the top-level object, keeping their values, up to the event list or the object's end.
class MemberWalk {
 public:
  MemberWalk(std::string_view text, std::uint64_t byte_offset, Anomalies& anomalies)
      : begin_(text.data()), end_(text.data() + text.size()), byte_offset_(byte_offset), anomalies_(anomalies) {}

  // `p` stands behind the opening bracket or behind a value.
  WalkEnd run(const char* p, NamedValues& values) {
    for (;;) {
      p = skip_space(p);
      if (p >= end_) return stop(WalkEnd::kIncomplete, end_);
      if (*p == ',') {
        ++p;
        continue;
      }
      if (*p == '}') return stop(WalkEnd::kObjectEnd, p + 1);
      if (*p != '"') return stop(WalkEnd::kBroken, p);
      const StringToken key = scan_string(p + 1);
      if (key.end >= end_) return stop(WalkEnd::kIncomplete, p);
      const char* colon = skip_space(key.end + 1);
      if (colon >= end_) return stop(WalkEnd::kIncomplete, p);
      if (*colon != ':') return stop(WalkEnd::kBroken, colon);
      const char* value = skip_space(colon + 1);
      if (value >= end_) return stop(WalkEnd::kIncomplete, p);
      const std::string_view name(key.begin, key.size());
      if (name == kEventListKey && *value == '[' && !has_event_list_) return stop(WalkEnd::kEventList, value + 1);
      const char* behind = skip_value(value, end_);
      // A bare word that touches the end may go on behind it.
      if (behind > end_ || (behind == end_ && *value != '"' && *value != '{' && *value != '['))
        return stop(WalkEnd::kIncomplete, p);
      if (behind == value) return stop(WalkEnd::kBroken, value);
      keep(name, {value, static_cast<std::size_t>(behind - value)}, values);
      p = behind;
    }
  }

  void set_has_event_list() { has_event_list_ = true; }
  const char* position() const { return position_; }
  std::uint64_t offset_of(const char* p) const { return byte_offset_ + static_cast<std::uint64_t>(p - begin_); }

 private:
  void keep(std::string_view raw_name, std::string_view text, NamedValues& values) {
    Repairs repairs;
    const std::string name = unescaped(raw_name, repairs);
    if (name == kEventListKey && has_event_list_) {
      anomalies_.add(Anomaly::kRepeatedEventList, offset_of(text.data()), name);
      return;
    }
    auto value = compact_json(text);
    if (!value) return anomalies_.add(Anomaly::kUnreadableHeader, offset_of(text.data()), name);
    if (name == kSamplesKey && text.starts_with('['))
      if (const std::uint64_t samples = element_count(text); samples > 0)
        anomalies_.add_many(Anomaly::kUnreadSample, samples, offset_of(text.data()), name);
    values.emplace_back(name, std::move(*value));
  }

  WalkEnd stop(WalkEnd end, const char* position) {
    position_ = position;
    return end;
  }

  const char* begin_;
  const char* end_;
  std::uint64_t byte_offset_;
  Anomalies& anomalies_;
  const char* position_ = nullptr;
  bool has_event_list_ = false;
};

bool is_space_only(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) > ' ') return false;
  return true;
}

void note_trailing_text(std::string_view rest, std::uint64_t offset, Anomalies& anomalies) {
  if (!is_space_only(rest)) anomalies.add(Anomaly::kTrailingText, offset, rest.substr(0, 80));
}

}  // namespace

Head parse_head(std::string_view text, Anomalies& anomalies) {
  Head head;
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (text.size() < kByteOrderMark.size() && kByteOrderMark.starts_with(text)) {
    head.status = HeadStatus::kIncomplete;
    return head;
  }
  const char* p = skip_space(text.starts_with(kByteOrderMark) ? begin + kByteOrderMark.size() : begin);
  if (p >= end) {
    head.status = HeadStatus::kIncomplete;
    return head;
  }
  if (*p == '[') {
    head.status = HeadStatus::kEvents;
    head.is_bare_list = true;
    head.position = static_cast<std::size_t>(p + 1 - begin);
    return head;
  }
  if (*p != '{') return head;
  MemberWalk walk(text, 0, anomalies);
  switch (walk.run(p + 1, head.values)) {
    case WalkEnd::kEventList:
      head.status = HeadStatus::kEvents;
      break;
    case WalkEnd::kObjectEnd:
      head.status = HeadStatus::kNoEvents;
      break;
    case WalkEnd::kIncomplete:
      head.status = HeadStatus::kIncomplete;
      break;
    case WalkEnd::kBroken:
      head.status = HeadStatus::kNotATrace;
      break;
  }
  head.position = static_cast<std::size_t>(walk.position() - begin);
  return head;
}

void parse_tail(std::string_view text, std::uint64_t byte_offset, bool is_bare_list, NamedValues& values,
                Anomalies& anomalies) {
  if (is_bare_list) return note_trailing_text(text, byte_offset, anomalies);
  MemberWalk walk(text, byte_offset, anomalies);
  walk.set_has_event_list();
  const WalkEnd end = walk.run(text.data(), values);
  const char* at = walk.position();
  const std::string_view rest(at, static_cast<std::size_t>(text.data() + text.size() - at));
  switch (end) {
    case WalkEnd::kObjectEnd:
      return note_trailing_text(rest, walk.offset_of(at), anomalies);
    case WalkEnd::kIncomplete:
      return anomalies.add(Anomaly::kTruncated, walk.offset_of(at), rest.substr(0, 80));
    case WalkEnd::kBroken:
    case WalkEnd::kEventList:
      return anomalies.add(Anomaly::kUnreadableHeader, walk.offset_of(at), rest.substr(0, 80));
  }
}

}  // namespace telltale::kineto
