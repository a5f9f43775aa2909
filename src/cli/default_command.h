// `telltale TRACE` means `telltale analyze TRACE`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace telltale::cli {

// The first word that is neither an option nor the value of one that the program or `command` has; empty when there is
// none.
std::string first_plain_word(const std::vector<std::string>& words, const CLI::App& program, const CLI::App& command);

// The words with `command` before them where they name no command but an existing file, standard input ("-"), or only
// options that `command` alone has.
std::vector<std::string> with_default_command(std::vector<std::string> words, const CLI::App& program,
                                              const CLI::App& command);

}  // namespace telltale::cli
