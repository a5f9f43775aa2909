#include "cli/help_format.h"

#include <string_view>

#include "report/text_width.h"

namespace telltale::cli {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kTextColumn = 22;

std::string two_columns(std::string_view word, std::string_view text) {
  const std::vector<std::string> lines = wrapped_words(text, kWidth - kTextColumn);
  std::string left = "  " + std::string(word);
  std::string help =
      left.size() < kTextColumn ? padded_right(left, kTextColumn) : left + '\n' + std::string(kTextColumn, ' ');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) help += std::string(kTextColumn, ' ');
    help += lines[i] + '\n';
  }
  return help;
}

}  // namespace

std::string HelpFormat::make_option(const CLI::Option* option, bool is_positional) const {
  if (is_positional) return two_columns(option->get_name(true), option->get_description());
  std::string words = option->get_name(false, true);
  const std::size_t comma = words.find(',');  // between the short name and the long one
  if (comma != std::string::npos) words.replace(comma, 1, ", ");
  const std::string type = option->get_type_name();
  if (option->get_type_size() != 0 && !type.empty()) words += ' ' + type;
  return two_columns(words, option->get_description());
}

std::string HelpFormat::make_subcommand(const CLI::App* command) const {
  return two_columns(command->get_name(), command->get_description());
}

}  // namespace telltale::cli
