// What to say when the words of a command line make no sense: CLI11's errors in our sentences, and a near word where
// one was mistyped.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace telltale::cli {

// `words` is the command line; `default_command` the one that stands where none is named.
std::string explained(const CLI::App& program, const CLI::App& default_command, const CLI::ParseError& error,
                      const std::vector<std::string>& words);

}  // namespace telltale::cli
