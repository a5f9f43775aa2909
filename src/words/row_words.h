// The words for what the rows of key averages are, and for what shares a row.
#pragma once

#include <map>
#include <string>

#include "analysis/call_tree.h"
#include "analysis/key_averages.h"

namespace telltale {

// "operator", "kernel" (all device work), …, "all"
const std::map<std::string, KindSet>& kinds_by_word();

// "name", "shape", "stack"
const std::map<std::string, Grouping>& groupings_by_word();

}  // namespace telltale
