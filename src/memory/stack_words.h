// What the frames of a call stack say of the memory that was allocated there.
//
// Frames are joined by ";", innermost first: "model.py(12): forward". They are torch's own files and functions, so that
// a program's own names decide nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/source_line.h"

namespace telltale {

// Of several frames, the part that stands first here decides: what runs backward may compute forward again, and the
// optimizer calls what others call.
enum class StackPart : std::uint8_t {
  kWorkspace,
  kCommunication,
  kOptimizer,
  kBackward,
  kKvCache,
  kData,
  kConstruction,  // of a module, or its way to another device
  kForward,
  kUnknown,
  kNothing,  // no frames at all, as on the threads on which autograd runs backward for a device
};

StackPart part_of_frame(std::string_view frame);
StackPart part_of_stack(std::string_view call_stack);

// The innermost frame in Python that is no library's, as source_line() has it; where there is none, the innermost one
// in Python; where nothing is in Python, the innermost that has a line.
std::optional<SourceLine> line_of_stack(std::string_view call_stack);

}  // namespace telltale
