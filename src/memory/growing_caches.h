// Which blocks are a cache of keys and values that a program's own modules make longer: in a decoder, each call of the
// model puts those of a new token behind those of all before, with torch.cat, and frees the shorter ones.
//
// Of one line within a module, what cat made in each call and outlives that call is added up. Where it grows by the
// same in three calls one after the other, it is such a cache. Programs that run backward have none.
//
// Pure and thread-safe; O(n log n).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "memory/made_block.h"
#include "trace/trace.h"

namespace telltale {

// Places in `blocks`.
std::vector<std::size_t> growing_caches(const Trace& trace, std::span<const MadeBlock> blocks);

}  // namespace telltale
