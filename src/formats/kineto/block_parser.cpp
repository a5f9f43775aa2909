#include "formats/kineto/block_parser.h"

#include <algorithm>
#include <cstring>

#include "formats/kineto/event_parser.h"

namespace telltale::kineto {
namespace {

constexpr std::size_t kTypicalBytesPerEvent = 256;
constexpr std::size_t kQuoteBytes = 80;

// Guessing where events start, to cut the text into blocks and to go on after an event that is no JSON.
constexpr std::string_view kEventKeys[] = {"ph", "cat", "name", "pid", "tid", "ts", "dur", "args", "id", "bp", "s"};

bool is_space(char c) { return static_cast<unsigned char>(c) <= ' '; }

// Whether the bracket at `at` follows "},".
bool follows_an_object(std::string_view text, std::size_t at) {
  const auto back_over_space = [&] {
    while (at > 0 && is_space(text[at - 1])) --at;
  };
  back_over_space();
  if (at == 0 || text[at - 1] != ',') return false;
  --at;
  back_over_space();
  return at > 0 && text[at - 1] == '}';
}

bool precedes_an_event_key(std::string_view text, std::size_t at) {
  ++at;
  while (at < text.size() && is_space(text[at])) ++at;
  if (at >= text.size() || text[at] != '"') return false;
  const std::string_view rest = text.substr(at + 1);
  return std::any_of(std::begin(kEventKeys), std::end(kEventKeys), [&](std::string_view key) {
    return rest.size() > key.size() && rest.starts_with(key) && rest[key.size()] == '"';
  });
}

bool is_event_start(std::string_view text, std::size_t at) {
  return follows_an_object(text, at) && precedes_an_event_key(text, at);
}

class BlockParser {
 public:
  BlockParser(const TextBlock& block, EventReader& reader, bool is_after_element) : block_(block), reader_(reader) {
    parsed_.is_after_element = is_after_element;
    parsed_.events.batch.events.reserve(block.size / kTypicalBytesPerEvent);
    parsed_.events.batch.offsets.reserve(block.size / kTypicalBytesPerEvent);
  }

  ParsedBlock run() {
    const char* p = skip_space(block_.begin());
    while (p < block_.end()) {
      if (*p == ']') return finish(BlockEnd::kListEnd, p + 1);
      if (*p == ',') {  // a stray comma, or the one in front of the closing bracket
        parsed_.is_after_element = false;
        p = skip_space(p + 1);
        continue;
      }
      const bool is_stray_text = parsed_.is_after_element && *p != '{';
      const char* behind = is_stray_text ? malformed(p, p) : element(p);
      if (behind == nullptr) return std::move(parsed_);
      parsed_.is_after_element = true;
      p = skip_space(behind);
    }
    return finish(BlockEnd::kBetweenEvents, block_.end());
  }

 private:
  ParsedBlock finish(BlockEnd end, const char* position) {
    parsed_.end = end;
    parsed_.position = static_cast<std::size_t>(position - block_.begin());
    return std::move(parsed_);
  }

  // Behind the element at `p`; null when the block ends first.
  const char* element(const char* p) {
    if (*p != '{') {
      const char* behind = skip_value(p, block_.end());
      if (behind >= block_.end() && *p != '"' && !block_.is_last) return stop_inside(p);
      if (behind > block_.end()) return stop_inside(p);
      const char* next = behind > p ? behind : p + 1;
      note(Anomaly::kNotAnEvent, p, next);
      parsed_.has_other_elements = true;
      return next;
    }
    const ParseEnd end = reader_.parser.parse(p, block_.end(), reader_.fields);
    switch (end.status) {
      case ParseStatus::kIncomplete:
        return stop_inside(p);
      case ParseStatus::kOk:
        (reader_.fields.phase != 0 ? parsed_.has_events : parsed_.has_other_elements) = true;
        if (!reader_.writer.write(reader_.fields, offset_of(p), parsed_.events))
          note(Anomaly::kMalformedEvent, p, end.position);
        return end.position;
      case ParseStatus::kMalformed:
        break;
    }
    return malformed(p, end.position);
  }

  // Counts the element at `p`, which goes wrong at `error`. Where reading can go on; null when that lies beyond the
  // block.
  const char* malformed(const char* p, const char* error) {
    parsed_.has_events = true;  // a broken one, for all we know
    const char* next = resume_behind(p, error);
    if (next != nullptr) note(Anomaly::kMalformedEvent, p, next);
    return next;
  }

  // Where reading can go on after an error at `error` in the element at `element`; null when that lies beyond the
  // block.
  const char* resume_behind(const char* element, const char* error) {
    const std::size_t next = find_event_start(block_.text(), static_cast<std::size_t>(error - block_.begin()));
    if (next != std::string_view::npos) return block_.begin() + next;
    if (!block_.is_last) return stop_inside(element);
    const std::size_t list_end = find_list_end(block_.text(), static_cast<std::size_t>(error - block_.begin()));
    return list_end != std::string_view::npos ? block_.begin() + list_end : stop_inside(element);
  }

  const char* stop_inside(const char* event) {
    finish_in_place(BlockEnd::kInsideEvent, event);
    return nullptr;
  }

  void finish_in_place(BlockEnd end, const char* position) {
    parsed_.end = end;
    parsed_.position = static_cast<std::size_t>(position - block_.begin());
  }

  std::uint64_t offset_of(const char* p) const {
    return block_.byte_offset + static_cast<std::uint64_t>(p - block_.begin());
  }

  // Quotes the text that is skipped and no more, so that the quote does not depend on where the block ends.
  void note(Anomaly anomaly, const char* p, const char* behind) {
    const auto skipped = static_cast<std::size_t>(behind - p);
    parsed_.events.batch.anomalies.add(anomaly, offset_of(p), {p, std::min(kQuoteBytes, skipped)});
  }

  const TextBlock& block_;
  EventReader& reader_;
  ParsedBlock parsed_;
};

}  // namespace

void pad(const TextBlock& block) { std::memset(block.storage.get() + block.size, kPadding, kPaddingBytes); }

ParsedBlock parse_block(const TextBlock& block, EventReader& reader, bool is_after_element) {
  return BlockParser(block, reader, is_after_element).run();
}

std::size_t find_event_start(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find('{', from); at != std::string_view::npos; at = text.find('{', at + 1))
    if (is_event_start(text, at)) return at;
  return std::string_view::npos;
}

std::size_t find_last_event_start(std::string_view text) {
  for (std::size_t at = text.rfind('{'); at != std::string_view::npos && at > 0; at = text.rfind('{', at - 1))
    if (is_event_start(text, at)) return at;
  return std::string_view::npos;
}

std::size_t find_list_end(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find(']', from); at != std::string_view::npos; at = text.find(']', at + 1)) {
    std::size_t before = at;
    while (before > 0 && is_space(text[before - 1])) --before;
    if (before > 0 && text[before - 1] == '}') return at;
  }
  return std::string_view::npos;
}

}  // namespace telltale::kineto
