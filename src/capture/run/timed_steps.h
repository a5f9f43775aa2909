// What steps of a process took, for the trace that PyTorch's profiler wrote of it without knowing of them.
#pragma once

#include <filesystem>
#include <string>

namespace telltale::capture {

// Puts the value `timed_steps` first into a JSON trace, whose other bytes stay as they are. `steps` is JSON; where it
// is not, or the file is none that begins like a trace, or cannot be written, nothing changes.
void add_timed_steps(const std::filesystem::path& trace, const std::string& steps);

}  // namespace telltale::capture
