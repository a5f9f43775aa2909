// The names of a table's rows, shortened so that each still differs from all others where it can.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "trace/kind.h"

namespace telltale {

struct NamedRow {
  Kind kind;
  std::string name;
};

// One name alone, without signature and folder. Safe to print.
std::string shortened_name(Kind kind, std::string_view name);

// Within a sentence: frames of Python without the folders of their files, others as they are; cut where too long.
// Safe to print.
std::string name_in_sentence(std::string_view name);

// Without signatures, folders and prefixes that every row of a kind has; long forms where short ones would coincide.
// Safe to print.
std::vector<std::string> shortened_names(const std::vector<NamedRow>& rows);

// Cuts names to a width. Names that would look the same when cut at the end lose their common beginning instead.
std::vector<std::string> fitted_names(const std::vector<std::string>& names, std::size_t width);

}  // namespace telltale
