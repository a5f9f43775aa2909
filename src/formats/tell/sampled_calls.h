// Python calls of a recording that saw stacks at operators and by samples, instead of every call.
#pragma once

#include <span>
#include <vector>

#include "formats/tell/definitions.h"
#include "formats/tell/places.h"
#include "formats/tell/record_decoder.h"
#include "formats/tell/samples.h"
#include "trace/event_block.h"

namespace telltale::tell {

// Rows of calls, with names of `names`: Python calls and waits and, on threads without exact ones, calls of modules. A
// thread whose Python calls were recorded exactly gets none. `kept_frames` are those of each block; durations of all
// rows must be known.
EventBatch sampled_calls(std::span<const EventBlock> blocks, std::span<const std::vector<KeptFrames>> kept_frames,
                         std::span<const Sample> samples, const Definitions& definitions, const Places& places,
                         LocalNames& names);

}  // namespace telltale::tell
