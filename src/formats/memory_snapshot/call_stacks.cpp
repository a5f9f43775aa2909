#include "formats/memory_snapshot/call_stacks.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text_encoding.h"

namespace telltale::memory_snapshot {
namespace {

constexpr StringId kUnknown = UINT32_MAX;

std::string_view bytes_of(const std::vector<StringId>& ids) {
  return {reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(StringId)};
}

// What joins frames cannot stand in one.
std::string without_separators(std::string_view text) {
  std::string clean = is_utf8(text) ? std::string(text) : repaired_utf8(text);
  std::ranges::replace(clean, ';', ',');
  return clean;
}

}  // namespace

CallStacks::CallStacks(const Values& values, Records& records, InternedStrings& strings)
    : values_(values), records_(records), strings_(strings), known_(values.value_count(), kUnknown) {}

StringId CallStacks::frame(ValueId value) {
  StringId& known = known_[value];
  if (known != kUnknown) return known;
  known = kEmptyString;
  Record record;
  if (!records_.read(value, record)) return known;
  const auto text = [&](Field field) {
    const auto found = record.has(field) ? values_.as_text(record[field]) : std::nullopt;
    return without_separators(found.value_or("??"));
  };
  const auto line = record.has(Field::kLine) ? values_.as_integer(record[Field::kLine]) : std::nullopt;
  known = frames_.intern(text(Field::kFilename) + "(" + std::to_string(line.value_or(0)) + "): " + text(Field::kName));
  return known;
}

StringId CallStacks::of(ValueId frames) {
  if (frames == kNoValue || !values_.is_list(frames)) return kEmptyString;
  if (known_[frames] != kUnknown) return known_[frames];
  std::vector<StringId> sequence;
  values_.each_item(frames, [&](ValueId item) {
    if (values_.is_dict(item))
      if (const StringId one = frame(item); one != kEmptyString) sequence.push_back(one);
    return true;
  });
  const StringId number = sequences_.intern(bytes_of(sequence));
  if (number >= sequence_texts_.size()) {
    std::string text;
    for (const StringId one : sequence) {
      if (!text.empty()) text += ';';
      text += frames_[one];
    }
    sequence_texts_.resize(number + 1, kEmptyString);
    sequence_texts_[number] = strings_.intern(text);
  }
  return known_[frames] = sequence_texts_[number];
}

}  // namespace telltale::memory_snapshot
