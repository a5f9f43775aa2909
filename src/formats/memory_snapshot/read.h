// Reads memory snapshots of PyTorch: what torch.cuda.memory._snapshot() returns, pickled or as JSON, and the list of
// segments that torch.cuda.memory_snapshot() returns.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "formats/input/read_options.h"
#include "formats/input/text_input.h"
#include "trace/trace.h"

namespace telltale::memory_snapshot {

// Whether a file that starts like this is one: any pickle, or JSON whose first member is one of a snapshot's.
bool is_snapshot(std::string_view first_bytes);

// A snapshot has what the allocators held in the end, and the newest entries of their logs. The trace has what they
// held when the logs begin, which is found by taking the entries back one after the other. `path` is for messages.
Result<Trace> read(TextInput& input, const std::string& path, const ReadOptions& options);

}  // namespace telltale::memory_snapshot
