// A line of a Python stack as recorders write it: "train.py(12): step".
//
// Pure and thread-safe.
#pragma once

#include <optional>
#include <string_view>

namespace telltale {

struct StackFrame {
  std::string_view file, function;
  int line = 0;
};

// Nothing for built-ins and modules. The result points into the text.
std::optional<StackFrame> split_frame(std::string_view text);

}  // namespace telltale
