// What a recording says of the program's data loaders: how each was made, and what making batches took. Recorders tell
// it as values of the header, as docs/record.md describes them:
//
// - `loader_workers`: for each loader that was iterated, what it was made with and how many iterators it made;
// - `loader_worker_ids`: the process ids of workers;
// - `loader_work`: the batches that the process made itself;
// - `worker_lines`: the batches that its worker processes made, and the lines on which they spent their time.
//
// In the file of a worker, `loader_worker` says which one it is.
//
// Pure and thread-safe. What is written otherwise than described is passed over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "trace/trace.h"

namespace telltale {

// Whether it is the recording of a worker.
bool is_of_loader_worker(const Trace& trace);

// The annotation of a loader that makes an iterator and starts worker processes for it.
inline constexpr std::string_view kStartOfWorkers = "DataLoader.__iter__";

struct LoaderSetup {
  int workers = 0;
  bool persistent_workers = false;
  bool pin_memory = false;
  std::string start_method;  // "fork", "spawn", "forkserver"; empty without workers
  std::string file;          // where it is iterated; empty where that is not known
  int line = 0;
  std::string function;
  int iterators = 1;  // that it made: one for each epoch, unless workers persist
};

// A line that batches are made on.
struct LoaderLine {
  std::string file;  // empty: in libraries, called by no line of the program's
  int line = 0;
  std::string function;
  std::string waits_for;  // "sleep", "file", …; empty while it runs
  double share = 0;       // of the time in which batches are made
};

struct LoaderWork {
  int workers = 0;  // processes that made batches; 0: the program itself
  std::int64_t batches = 0;
  Nanoseconds took = 0, processor_time = 0;  // of all batches
  std::vector<LoaderLine> lines;             // by falling share
};

// In the order of the file: those that made the most iterators first.
std::vector<LoaderSetup> loader_setups(const Trace& trace);

// Of processes; nothing where the recording does not tell.
std::optional<std::vector<std::int64_t>> loader_worker_ids(const Trace& trace);

std::optional<LoaderWork> own_loader_work(const Trace& trace);
std::optional<LoaderWork> workers_loader_work(const Trace& trace);

}  // namespace telltale
