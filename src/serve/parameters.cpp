#include "serve/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "answers/suggestion.h"
#include "base/text_encoding.h"
#include "report/text_width.h"

namespace telltale::serve {
namespace {

std::optional<unsigned char> hexadecimal(std::string_view two_digits) {
  unsigned char value = 0;
  const char* end = two_digits.data() + two_digits.size();
  const auto [rest, error] = std::from_chars(two_digits.data(), end, value, 16);
  return two_digits.size() == 2 && error == std::errc() && rest == end ? std::optional(value) : std::nullopt;
}

// Nothing where a % is not followed by two digits.
std::optional<std::string> decoded(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '%') {
      const auto value = hexadecimal(text.substr(at + 1, 2));
      if (!value) return std::nullopt;
      plain += static_cast<char>(*value);
      at += 2;
    } else {
      plain += text[at] == '+' ? ' ' : text[at];
    }
  }
  return plain;
}

// Short enough for a sentence, and of characters that can be shown.
std::string quoted(std::string_view value) {
  constexpr std::size_t kShown = 60;
  return fmt::format("'{}{}'", printable(repaired_utf8(value.substr(0, kShown))), value.size() > kShown ? "…" : "");
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

}  // namespace

Parameters::Parameters(std::string_view query) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const auto name = decoded(pair.substr(0, equals));
    const auto value = decoded(pair.substr(std::min(equals + 1, pair.size())));
    if (!name || !value) {
      complain(fmt::format("a % without two hexadecimal digits behind it stands in {}", quoted(pair)));
    } else if (std::ranges::find(values_, *name, &Value::first) != values_.end()) {
      complain(fmt::format("{} is given twice", quoted(*name)));
    } else {
      values_.emplace_back(*name, *value);
    }
  }
}

const std::string* Parameters::find(std::string_view name) {
  known_.emplace(name);
  const auto found = std::ranges::find(values_, name, &Value::first);
  return found == values_.end() ? nullptr : &found->second;
}

void Parameters::require(std::string_view name) {
  if (find(name) == nullptr) complain(fmt::format("{} is missing", name));
}

void Parameters::complain(std::string sentence) {
  if (problem_.empty()) problem_ = std::move(sentence);
}

std::optional<std::string> Parameters::text(std::string_view name) {
  const std::string* value = find(name);
  return value == nullptr ? std::nullopt : std::optional(repaired_utf8(*value));
}

std::string Parameters::needed_text(std::string_view name) {
  require(name);
  return text(name).value_or("");
}

std::optional<std::int64_t> Parameters::number_within(std::string_view name, std::int64_t least, std::int64_t most) {
  const std::string* value = find(name);
  if (value == nullptr) return std::nullopt;
  const auto number = whole_number(*value);
  if (number && *number >= least && *number <= most) return number;
  complain(fmt::format("{} takes a whole number from {} to {}, not {}", name, least, most, quoted(*value)));
  return std::nullopt;
}

std::vector<std::int64_t> Parameters::numbers_within(std::string_view name, std::int64_t least, std::int64_t most) {
  const std::string* value = find(name);
  std::vector<std::int64_t> numbers;
  if (value == nullptr || value->empty()) return numbers;
  std::string_view rest = *value;
  while (true) {
    const std::string_view item = rest.substr(0, rest.find(','));
    const auto number = whole_number(item);
    if (!number || *number < least || *number > most) {
      complain(fmt::format("{} takes whole numbers from {} to {} with commas between them, not {}", name, least, most,
                           quoted(item)));
      return {};
    }
    numbers.push_back(*number);
    if (item.size() == rest.size()) return numbers;
    rest.remove_prefix(item.size() + 1);
  }
}

std::string Parameters::choice(std::string_view name, std::initializer_list<std::string_view> words) {
  const std::string* value = find(name);
  if (value == nullptr) return std::string(*words.begin());
  if (std::ranges::find(words, *value) == words.end())
    complain(fmt::format("{} takes {}, not {}", name, fmt::join(words, " or "), quoted(*value)));
  return *value;
}

bool Parameters::flag(std::string_view name) { return choice(name, {"0", "1"}) == "1"; }

std::optional<Error> Parameters::problem() const {
  if (!problem_.empty()) return Error{.message = problem_};
  for (const auto& [name, value] : values_) {
    if (known_.contains(name)) continue;
    return Error{.message = fmt::format("there is no parameter {}{}", quoted(name),
                                        answers::suggestion(name, {known_.begin(), known_.end()}))};
  }
  return std::nullopt;
}

}  // namespace telltale::serve
