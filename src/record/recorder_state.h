// What the recorder of a process consists of. Constant-initialized: usable before main() and after exit().
#pragma once

#include <sys/types.h>

#include <atomic>

#include "record/buffer_pool.h"
#include "record/losses.h"
#include "record/names.h"

namespace telltale::record {

extern BufferPool pool;
extern Names names;
extern Losses losses;  // of the present file
// Not the pid of this process: it was forked from one that recorded, and must not go on as if it were the same.
extern std::atomic<pid_t> owner;

}  // namespace telltale::record
