// Waiting until threads have left the recorder, without a cost for those threads.
//
// A thread sets `busy`, then looks whether something is recorded; it needs no fence in between, because whoever changes
// that makes all processors pass one here.
#pragma once

namespace telltale::record {

// Once, before anything is recorded.
void prepare_barrier();

// Every store before it is seen by whatever a thread of this process does after it.
void barrier_on_all_threads();

}  // namespace telltale::record
