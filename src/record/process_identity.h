// Whose memory this is: of the calling process alone, a copy of another one's, or another one's that it shares.
//
// fork() leaves a copy, whether or not it calls handlers; vfork(), posix_spawn() and clone() can leave a process that
// runs in its parent's memory for a while, and has files and a pid of its own. All functions are signal-safe.
#pragma once

#include <cstdint>

namespace telltale::record {

enum class MemoryOf : std::uint8_t { kThisProcess, kParentCopied, kParentShared };

// Before the first of the others; once more does no harm.
void prepare_identity();

MemoryOf memory_of();

// A process that has a copy makes it its own: true for the one thread that is to do so, and calls own() at the end.
bool begin_to_own();
void own();
// Returns when that is done.
void wait_for_owner();

}  // namespace telltale::record
