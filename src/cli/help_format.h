// How help is laid out: words and what they do in two columns, wrapped to 80.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace telltale::cli {

class HelpFormat : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* command) const override;
};

}  // namespace telltale::cli
