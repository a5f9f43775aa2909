#include "cli/default_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <system_error>

namespace telltale::cli {
namespace {

const CLI::Option* option_named(const CLI::App& app, const std::string& word) {
  return app.get_option_no_throw(word.substr(0, word.find('=')));
}

bool is_option(const std::string& word) { return word.starts_with('-') && word != "-"; }

bool takes_next_word(const CLI::Option* option, const std::string& word) {
  return option != nullptr && option->get_items_expected_max() > 0 && word.find('=') == std::string::npos;
}

bool has_option_of_its_own(const std::vector<std::string>& words, const CLI::App& program, const CLI::App& command) {
  return std::ranges::any_of(words, [&](const std::string& word) {
    return is_option(word) && option_named(program, word) == nullptr && option_named(command, word) != nullptr;
  });
}

bool is_file(const std::string& word) {
  std::error_code error;
  return word == "-" || std::filesystem::exists(word, error);
}

bool is_command(const std::string& word, const CLI::App& program) {
  return std::ranges::any_of(program.get_subcommands({}),
                             [&](const CLI::App* command) { return command->get_name() == word; });
}

// Where the first word stands, from `first` on, that is neither an option nor the value of one; the end when nowhere.
std::size_t plain_word(const std::vector<std::string>& words, std::size_t first, const CLI::App& program,
                       const CLI::App& command) {
  for (std::size_t i = first; i < words.size(); ++i) {
    if (!is_option(words[i])) return i;
    const bool takes_next = takes_next_word(option_named(program, words[i]), words[i]) ||
                            takes_next_word(option_named(command, words[i]), words[i]);
    if (takes_next) ++i;
  }
  return words.size();
}

}  // namespace

std::string first_plain_word(const std::vector<std::string>& words, const CLI::App& program, const CLI::App& command) {
  const std::size_t at = plain_word(words, 0, program, command);
  return at < words.size() ? words[at] : std::string();
}

std::vector<std::string> taken_child_command(std::vector<std::string>& words, const CLI::App& program,
                                             const CLI::App& command) {
  const std::size_t at = plain_word(words, 0, program, command);
  if (at >= words.size() || words[at] != command.get_name()) return {};
  const auto mark = std::ranges::find(words.begin() + static_cast<std::ptrdiff_t>(at), words.end(), "--");
  std::vector<std::string> before(words.begin(), mark);
  const std::size_t first = plain_word(before, at + 1, program, command);
  std::vector<std::string> taken(words.begin() + static_cast<std::ptrdiff_t>(first), words.end());
  if (!taken.empty() && taken.front() == "--") taken.erase(taken.begin());
  words.resize(first);
  return taken;
}

std::vector<std::string> with_default_command(std::vector<std::string> words, const CLI::App& program,
                                              const CLI::App& command) {
  const std::string word = first_plain_word(words, program, command);
  const bool is_default =
      word.empty() ? has_option_of_its_own(words, program, command) : !is_command(word, program) && is_file(word);
  if (is_default) words.insert(words.begin(), command.get_name());
  return words;
}

}  // namespace telltale::cli
