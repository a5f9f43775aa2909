// The line of the user's code that an event comes from.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trace/trace.h"

namespace telltale {

struct SourceLine {
  std::string file;
  int line = 0;  // where the function is defined, when Python events are all there is: they say no more
  std::string function;
  bool operator==(const SourceLine&) const = default;
};

// "train.py(12): step" → {train.py, 12, step}; nothing for built-ins and modules.
std::optional<SourceLine> parsed_frame(std::string_view frame);

// Whether a frame belongs to torch, to the standard library, to an installed package or to the interpreter itself.
bool is_library_frame(const SourceLine& frame);

// The deepest frame outside of libraries around an event: its own for host events, its launch's for device work, that
// of the forward operator for backward ones. Nothing when the trace has no stacks there.
std::optional<SourceLine> source_line(const Trace& trace, EventId event);

}  // namespace telltale
