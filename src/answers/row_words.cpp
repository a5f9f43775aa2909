#include "answers/row_words.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "answers/suggestion.h"

namespace telltale::answers {
namespace {

template <typename Value>
using Words = std::vector<std::pair<std::string_view, Value>>;

const Words<KindSet>& row_words() {
  static const Words<KindSet> kWords = {
      {"operator", {Kind::kOperator}},
      {"kernel", {Kind::kKernel, Kind::kMemcpy, Kind::kMemset, Kind::kCollective, Kind::kDeviceOther}},
      {"module", {Kind::kModule}},
      {"annotation", {Kind::kAnnotation}},
      {"python", {Kind::kPython}},
      {"all", KindSet::all()},
  };
  return kWords;
}

const Words<Grouping>& grouping_words() {
  static const Words<Grouping> kWords = {
      {"name", Grouping::kName}, {"shape", Grouping::kShape}, {"stack", Grouping::kStack}};
  return kWords;
}

template <typename Value>
Result<Value> value_of(const Words<Value>& words, const std::string& word, const std::string& option) {
  const auto found = std::ranges::find(words, word, &std::pair<std::string_view, Value>::first);
  if (found != words.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [each, value] : words) known.emplace_back(each);
  return failure(option + " cannot be '" + word + "'" + suggestion_or_choice(word, known));
}

}  // namespace

Result<KindSet> rows_named(const std::string& word, Spelling spelling) {
  return value_of(row_words(), word, spelled(spelling, "by"));
}

Result<Grouping> grouping_named(const std::string& word, Spelling spelling) {
  return value_of(grouping_words(), word, spelled(spelling, "group"));
}

Result<KindSet> kinds_named(const std::vector<std::string>& names) {
  KindSet kinds;
  for (const std::string& name : names) {
    const std::optional<Kind> kind = kind_named(name);
    if (!kind) {
      std::vector<std::string> known;
      for (int i = 0; i < kKindCount; ++i) known.emplace_back(name_of(static_cast<Kind>(i)));
      return failure(no_such_word("kind", name, known));
    }
    kinds.add(*kind);
  }
  return kinds;
}

}  // namespace telltale::answers
