// Waiting until threads have left the recorder, without a cost for those threads.
//
// A thread sets `busy`, then looks whether something is recorded; it needs no fence in between, because whoever changes
// that makes all processors pass one here.
#pragma once

#include "record/thread_state.h"

namespace telltale::record {

// Once, before anything is recorded.
void prepare_barrier();

// Every store before it is seen by whatever a thread of this process does after it.
void barrier_on_all_threads();

// After a barrier: whether the thread has been outside the recorder since. Gives up after a second: a thread that was
// cancelled inside will never leave.
bool has_left_recorder(const ThreadState& thread);

}  // namespace telltale::record
