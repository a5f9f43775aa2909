// A command being recorded, from its start to its end.
#pragma once

#include <expected>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "capture/run/attachment.h"
#include "capture/run/child.h"
#include "capture/run/engine.h"
#include "capture/run/options.h"
#include "capture/run/recorded_files.h"

namespace telltale::capture {

// Where sentences for the user go, one at a time.
using Say = std::function<void(const std::string& sentence)>;

struct CommandOutcome {
  Ending ending;
  bool was_stopped_by_us = false;  // as RecordOptions::stops_command asks
  std::vector<RecordedFile> files;
  std::string why_nothing;  // a sentence, where there are no files
};

// `file` is where processes write, as attachment_for() has it, in a folder that only this recording writes to.
// Runs the command and returns when it, and what it leaves behind with something to write, has ended. Fails, with an
// exit code for us, only where it could not be started. While it runs, signals wait for the command: see SignalQueue.
std::expected<CommandOutcome, StartFailure> run_command(const RecordOptions& options, const EngineChoice& choice,
                                                        const std::filesystem::path& file, const WorkFolder& work,
                                                        const Say& say);

}  // namespace telltale::capture
