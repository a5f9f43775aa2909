// What NVTX marks, in the recording: ranges of a thread as its scopes, ranges that begin and end anywhere as spans of
// their own, and marks. While nothing is recorded, each costs a look at that.
#pragma once

#include <nvtx3/nvToolsExt.h>
#include <telltale/telltale.h>

#include <cstdint>

#include "nvtx_texts.h"

namespace telltale::capture {

// Each domain has a stack of its own on each thread. They return how many of its ranges were open, less one when they
// opened or closed one, as NVTX has it; a negative number when there is none to close.
int push_range(const NvtxDomain& domain, telltale_site* (*site)(const NvtxDomain&, const void*), const void* message);
int pop_range(const NvtxDomain& domain);

nvtxRangeId_t start_range(telltale_site* site);
void end_range(nvtxRangeId_t id);

// A name for the thread with that number in the system; another thread than the calling one gets it with its next
// range.
void name_thread(std::uint32_t number, const char* name);

}  // namespace telltale::capture
