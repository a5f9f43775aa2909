// The line of code that an event comes from.
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

// "train.py:12", without folders; "train.py" where the line is not known.
std::string short_place(const SourceLine& source);

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

// The deepest frame outside of libraries around an event, be it the user's or that of a package with models: its own
// for host events, its launch's for device work, its capture's for that of a CUDA graph, that of the forward operator
// for backward ones. Nothing when the trace has no stacks there.
std::optional<SourceLine> source_line(const Trace& trace, EventId event);

}  // namespace telltale
