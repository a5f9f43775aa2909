// Kinds of events as Python code names them.
#pragma once

#include <string>
#include <vector>

#include "analysis/call_tree.h"
#include "base/error.h"

namespace telltale::python {

Result<KindSet> kinds_named(const std::vector<std::string>& names);

// "there is no kind 'kernal'; did you mean 'kernel'?", or with all that there are.
std::string no_such_word(const std::string& what, const std::string& word, const std::vector<std::string>& known);

}  // namespace telltale::python
