// What happens to threads and to the process as a whole: threads end, the process forks or exits.
#pragma once

#include "record/thread_state.h"

namespace telltale::record {

// Its buffer goes to the writer when the calling thread ends.
void watch_for_thread_exit(ThreadState& thread);

// Chooses the clock, and asks to be told of forks and ends of threads. Does so once.
void make_ready();

// In a process that was forked from a recording one: what the parent recorded is forgotten. False when the child is not
// to record.
bool continue_in_child();

}  // namespace telltale::record
