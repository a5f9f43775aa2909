// The line of the user's code that an event comes from.
//
// Pure and thread-safe; one call follows the event's stack outwards.
#pragma once

#include <cstdint>
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

// Whose code a file holds. Recorders cut off the folder in which a package was found, so that of installed packages
// often only the own name is left: those that stand in stacks of training are known by it.
enum class CodeOwner : std::uint8_t {
  kUser,
  kPackage,  // an installed package that brings models or loops around them: transformers, torchvision, lightning
  kLibrary,  // torch, the standard library, the interpreter, generated code, and packages that only serve
};
CodeOwner owner_of(std::string_view file);

// Whether a frame belongs to torch, to the standard library, to an installed package or to the interpreter itself.
bool is_library_frame(const SourceLine& frame);

// The deepest frame of the user's own code around an event: its own for host events, its launch's for device work, that
// of the forward operator for backward ones. Where no code of the user is on the stack, the deepest frame of an
// installed package that is no mere library; nothing when the trace has no stacks there.
std::optional<SourceLine> source_line(const Trace& trace, EventId event);

// The deepest frame outside of libraries, whether the user's or a package's: where the event itself is written down,
// such as an attention in transformers that the user's own code only leads to.
std::optional<SourceLine> innermost_source_line(const Trace& trace, EventId event);

}  // namespace telltale
