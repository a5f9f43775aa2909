#include "cli/value_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <utility>

#include "answers/suggestion.h"
#include "base/amounts.h"

namespace telltale::cli {
namespace {

// Without the name and the description that CLI11 would show in the help.
CLI::Validator refusing(std::function<std::string(const std::string&)> refusal) {
  return CLI::Validator([refusal = std::move(refusal)](std::string& text) { return refusal(text); }, "");
}

}  // namespace

CLI::Validator number_between(double least, double most) {
  const std::string wanted = std::isfinite(most)
                                 ? fmt::format("from {} to {}", format_number(least), format_number(most))
                                 : fmt::format("of {} or more", format_number(least));
  return refusing([=](const std::string& text) -> std::string {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    const bool is_number = error == std::errc{} && stop == end && std::isfinite(number);
    if (is_number && number >= least && number <= most) return {};
    return fmt::format("takes a number {}, not '{}'", wanted, text);
  });
}

CLI::Validator one_of(std::vector<std::string> names) {
  return refusing([names = std::move(names)](const std::string& text) -> std::string {
    if (std::ranges::find(names, text) != names.end()) return {};
    const std::string near = answers::suggestion(text, names);
    return fmt::format("cannot be '{}'{}", text, near.empty() ? "; choose " + listed(names, "or") : near);
  });
}

}  // namespace telltale::cli
