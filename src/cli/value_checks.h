// Checks of the values of options whose refusals read as ours: "--steps takes a number from 1 to 1,000,000, not '0'".
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace telltale::cli {

// Both ends are allowed. An infinite `most` is no limit.
CLI::Validator number_between(double least, double most);

CLI::Validator one_of(std::vector<std::string> names);

}  // namespace telltale::cli
