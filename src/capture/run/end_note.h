// What the recording of a process that was ended before its time cannot say itself: how it ended.
//
// Appends a chunk to the file once its writer is gone (docs/formats/tell.md: `ended_by`). A file that has its end, that
// somebody still writes to, or that is no recording of ours stays as it is.
#pragma once

#include <filesystem>
#include <string>

#include "capture/run/child.h"

namespace telltale::capture {

// "signal 15 (Terminated)", "exit code 3"; what `telltale record` knows of the process that it started.
std::string how_it_ended(const Ending& ending, bool was_stopped_by_us);

// Whether it was appended.
bool note_end(const std::filesystem::path& recording, const std::string& how);

}  // namespace telltale::capture
