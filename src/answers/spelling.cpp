#include "answers/spelling.h"

#include <algorithm>
#include <utility>

namespace telltale::answers {
namespace {

// Options whose flag is not their keyword: lists are given one by one on a command line.
constexpr std::pair<std::string_view, std::string_view> kOtherFlags[] = {
    {"rules", "--rule"}, {"output", "-o"}, {"page", "--html"}, {"overwrite", "--force"}};

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' || c == '-';
}

}  // namespace

std::string spelled(Spelling spelling, std::string_view keyword) {
  if (spelling == Spelling::kKeywords) return std::string(keyword);
  for (const auto& [word, flag] : kOtherFlags)
    if (word == keyword) return std::string(flag);
  std::string flag = "--" + std::string(keyword);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

std::string spelled(Spelling spelling, std::string_view keyword, std::string_view value) {
  std::string text = spelled(spelling, keyword) + (spelling == Spelling::kFlags ? ' ' : '=');
  if (!value.empty() && std::ranges::all_of(value, is_plain)) return text.append(value);
  return text.append("'").append(value).append("'");
}

std::string switched_on(Spelling spelling, std::string_view keyword) {
  return spelled(spelling, keyword) + (spelling == Spelling::kKeywords ? "=True" : "");
}

}  // namespace telltale::answers
