// Records a program and returns what came of it: starts the command, or asks a process that runs already; watches it
// to its end; gives its files the names that were asked for. With options.h, all that a caller of this room needs.
//
// Call it before there are threads: signals that would end us wait meanwhile, and those that only we got go to the
// command. What there is to say on the way is said through `Caller`, from the calling thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "capture/run/command_run.h"
#include "capture/run/options.h"
#include "capture/run/recorded_files.h"
#include "trace/trace.h"

namespace telltale::capture {

struct Caller {
  Say say;
  std::function<Result<std::shared_ptr<const Trace>>(const std::string& path)> read;  // reads a recording
};

// One process's recording, or one cycle of it.
struct Recording {
  RecordedFile file;           // as the process wrote it
  std::filesystem::path path;  // where it is now
  std::optional<std::int64_t> rank;
  std::uint64_t events = 0, operators = 0;  // 0 also where it was not read
  Nanoseconds duration = 0;
  bool is_loader_worker = false;  // it makes batches for another process
};

struct Recorded {
  int exit_code = 0;                  // the command's, or what tells why there was none; 0 when it was stopped by us
  std::vector<Recording> recordings;  // when there are none, that and why has been said
  // Of those with operators, and that are no loader's worker, that of rank 0, or else the one with the most events.
  std::size_t best = 0;
  std::shared_ptr<const Trace>
      trace;  // of the best one, where options.wants_trace asked for it and it can be read; or null
};

// Fails where nothing was started. Whatever goes wrong later is said, and what was recorded stays where it is.
Result<Recorded> record(const RecordOptions& options, const Caller& caller);

// A path as one would type it: relative to the current folder where it is in it.
std::string shown(const std::filesystem::path& path);

}  // namespace telltale::capture
