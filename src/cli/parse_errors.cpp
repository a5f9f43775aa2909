#include "cli/parse_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "answers/suggestion.h"
#include "cli/command.h"
#include "cli/default_command.h"

namespace telltale::cli {
namespace {

// What stands before and behind the first `separator`.
struct Halves {
  std::string_view before, behind;
};

std::optional<Halves> split_at(std::string_view text, std::string_view separator) {
  const std::size_t place = text.find(separator);
  if (place == std::string_view::npos) return {};
  return Halves{text.substr(0, place), text.substr(place + separator.size())};
}

std::string no_such_word(const std::string& word, const std::vector<std::string>& commands) {
  const bool looks_like_path = word.find_first_of("./") != std::string::npos;
  return looks_like_path ? "there is no file and no command '" + word + "'"
                         : "there is no command '" + word + "'" + answers::suggestion(word, commands);
}

// The first option among the words that neither the command nor the program has, and one that is near.
std::optional<std::string> no_such_option(const CLI::App& program, const CLI::App& command,
                                          const std::vector<std::string>& words) {
  std::vector<std::string> known;
  for (const CLI::App* holder : {&command, &program})
    for (const CLI::Option* option : holder->get_options())
      for (const std::string& long_name : option->get_lnames()) known.push_back("--" + long_name);
  for (const std::string& word : words) {
    if (!word.starts_with("--")) continue;
    const std::string name = word.substr(0, word.find('='));
    if (std::ranges::find(known, name) == known.end())
      return "there is no option '" + name + "'" + answers::suggestion(name, known);
  }
  return {};
}

bool is_flag(const CLI::App& command, std::string_view name) {
  const CLI::Option* const option = command.get_option_no_throw(std::string(name));
  return option != nullptr && option->get_expected_max() == 0;
}

// "Could not convert: --limit = few"
std::string not_a_number(std::string_view message, const CLI::App& command) {
  const auto value = split_at(message, " = ");
  const auto name = value ? split_at(value->before, ": ") : std::nullopt;
  if (!name) return std::string(message);
  if (is_flag(command, name->behind))
    return fmt::format("{} takes no value, but has '{}'", name->behind, value->behind);
  return fmt::format("{} takes a number, not '{}'", name->behind, value->behind);
}

// "--explain: 1 required RULE missing", or "--steps: At Most 1 required but received 2"
std::string wrong_number_of_values(std::string_view message) {
  const auto name = split_at(message, ": ");
  if (name && name->behind.starts_with("At Most 1 ")) return fmt::format("{} may be given only once", name->before);
  const auto type = name ? split_at(name->behind, " required ") : std::nullopt;
  const auto end = type ? split_at(type->behind, " missing") : std::nullopt;
  return end ? fmt::format("{} needs a value: {} {}", name->before, name->before, end->before) : std::string(message);
}

// "--json excludes --csv"
std::string not_both(std::string_view message) {
  const auto names = split_at(message, " excludes ");
  return names ? fmt::format("give either {} or {}, not both", names->before, names->behind) : std::string(message);
}

// "The following argument was not expected: b"
std::string one_too_many(std::string_view message, std::string_view command) {
  const auto words = split_at(message, ": ");
  if (words && words->behind.starts_with('-')) return fmt::format("there is no option '{}'", words->behind);
  return words ? fmt::format("telltale {} takes one TRACE, and there is '{}' as well", command, words->behind)
               : std::string(message);
}

// "--steps: takes a number …", as value_checks.h refuses: a sentence whose subject is the option.
std::string wrong_value(std::string_view message) {
  const auto name = split_at(message, ": ");
  const bool is_predicate = name && (name->behind.starts_with("takes ") || name->behind.starts_with("cannot "));
  return is_predicate ? fmt::format("{} {}", name->before, name->behind) : std::string(message);
}

template <class Wanted>
bool is(const CLI::ParseError& error) {
  return dynamic_cast<const Wanted*>(&error) != nullptr;
}

std::string in_words(const CLI::ParseError& error, const CLI::App& command) {
  const std::string message = error.what();
  if (is<CLI::ConversionError>(error)) return not_a_number(message, command);
  if (is<CLI::ArgumentMismatch>(error)) return wrong_number_of_values(message);
  if (is<CLI::ExcludesError>(error)) return not_both(message);
  if (is<CLI::ExtrasError>(error)) return one_too_many(message, command.get_name());
  if (is<CLI::ValidationError>(error)) return wrong_value(message);
  return message;
}

}  // namespace

std::string explained(const CLI::App& program, const CLI::App& default_command, const CLI::ParseError& error,
                      const std::vector<std::string>& words) {
  std::vector<std::string> commands;
  for (const Command* each : all_commands()) commands.emplace_back(each->name);
  const bool has_command = !program.get_subcommands().empty();
  const CLI::App& command = has_command ? *program.get_subcommands().front() : program;
  const std::string help = has_command ? " (see telltale " + command.get_name() + " --help)" : " (see telltale --help)";

  if (!has_command) {
    const std::string word = first_plain_word(words, program, default_command);
    if (!word.empty()) return no_such_word(word, commands) + help;
  }
  if (const auto wrong = no_such_option(program, command, words)) return *wrong + help;
  if (!has_command && is<CLI::RequiredError>(error))
    return "say what to do: " + CLI::detail::join(commands, ", ") + help;
  std::string sentence = in_words(error, command);
  std::ranges::replace(sentence, '\n', ' ');
  return sentence + help;
}

}  // namespace telltale::cli
