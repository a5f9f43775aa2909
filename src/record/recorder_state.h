// What the recorder of a process consists of. Constant-initialized: usable before main() and after exit().
#pragma once

#include "record/buffer_pool.h"
#include "record/losses.h"
#include "record/memory_budget.h"
#include "record/names.h"

namespace telltale::record {

extern BufferPool pool;
extern Names names;
extern Losses losses;  // of the present file
extern MemoryBudget memory_budget;

}  // namespace telltale::record
