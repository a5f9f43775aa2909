// What the words mean beyond what they say: `telltale TRACE` is `telltale analyze TRACE`, and the words of a program
// that a command runs are that program's.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace telltale::cli {

// The first word that is neither an option nor the value of one that the program or `command` has; empty when there is
// none.
std::string first_plain_word(const std::vector<std::string>& words, const CLI::App& program, const CLI::App& command);

// The words with `command` before them where they name no command but an existing file, standard input ("-"), or only
// options that `command` alone has.
std::vector<std::string> with_default_command(std::vector<std::string> words, const CLI::App& program,
                                              const CLI::App& command);

// Takes the words of the program to run from those of `command`, if that is the one called, and returns them. They
// begin behind "--", or with the first word that is neither an option nor the value of one: from there on nothing is
// ours.
std::vector<std::string> taken_child_command(std::vector<std::string>& words, const CLI::App& program,
                                             const CLI::App& command);

}  // namespace telltale::cli
