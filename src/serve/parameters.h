// The parameters of a request: what stands behind the "?" of its URL.
//
// What is missing or malformed is remembered, so that a request is read without looking at each value: ask problem()
// when all are read. It also knows those that nobody has asked for.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace telltale::serve {

class Parameters {
 public:
  // "steps=3..7&q=a%20b"; a plus is a space, as in what forms send.
  explicit Parameters(std::string_view query);

  std::optional<std::string> text(std::string_view name);
  std::string needed_text(std::string_view name);

  // Whole numbers that the type can hold.
  template <std::integral T>
  std::optional<T> whole(std::string_view name) {
    const auto number = number_within(name, std::numeric_limits<T>::min(), largest<T>());
    return number ? std::optional(static_cast<T>(*number)) : std::nullopt;
  }
  template <std::integral T>
  T needed_whole(std::string_view name) {
    require(name);
    return whole<T>(name).value_or(0);
  }
  // "1,2,3"; empty where there are none.
  template <std::integral T>
  std::vector<T> wholes(std::string_view name) {
    std::vector<T> numbers;
    for (const std::int64_t number : numbers_within(name, std::numeric_limits<T>::min(), largest<T>()))
      numbers.push_back(static_cast<T>(number));
    return numbers;
  }

  // One of the words; the first where it is left out.
  std::string choice(std::string_view name, std::initializer_list<std::string_view> words);
  // 1 or 0; false where it is left out.
  bool flag(std::string_view name);

  // What is wrong with them, after all that a request knows were read.
  std::optional<Error> problem() const;

 private:
  template <std::integral T>
  static constexpr std::int64_t largest() {
    return static_cast<std::int64_t>(std::min<std::uint64_t>(std::numeric_limits<T>::max(), INT64_MAX));
  }
  const std::string* find(std::string_view name);
  void require(std::string_view name);
  void complain(std::string sentence);
  std::optional<std::int64_t> number_within(std::string_view name, std::int64_t least, std::int64_t most);
  std::vector<std::int64_t> numbers_within(std::string_view name, std::int64_t least, std::int64_t most);

  using Value = std::pair<std::string, std::string>;
  std::vector<Value> values_;
  std::set<std::string, std::less<>> known_;
  std::string problem_;  // the first
};

}  // namespace telltale::serve
