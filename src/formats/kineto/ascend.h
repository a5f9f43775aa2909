// Traces of Ascend's profilers (torch_npu, msprof): Chrome events without categories, whose processes say what they
// are.
#pragma once

#include "formats/kineto/parallel_blocks.h"

namespace telltale::kineto {

// Gives rows of Ascend's processes their kinds and tracks, before a trace is built of them:
//
//   "Ascend Hardware"   a thread a stream, an event a task: work on the device that the process's label numbers ("NPU
//   3") "CANN"              calls of the device's API: "AscendCL@aclrtMemcpy"; "Node@launch" and others are its lower
//   levels "Communication", "HCCL", "Overlap Analysis"   what the hardware's streams say already, told once more
void place_ascend_rows(EventList& list);

}  // namespace telltale::kineto
