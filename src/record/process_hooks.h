// What happens to threads and to the process as a whole: threads end, the process forks, exits, or unloads a library.
#pragma once

#include "record/active_session.h"
#include "record/thread_state.h"

namespace telltale::record {

// Its buffer goes to the writer when the calling thread ends, where that can be watched for. Signal-safe.
bool can_watch_for_thread_exit();
void watch_for_thread_exit(ThreadState& thread);

// Whether the calling thread has been through its end: what signal handlers still emit on it finds no thread.
bool has_thread_ended();

// Before the first session or thread of the recorder's: asks to be told of forks and ends of threads, and keeps the
// code in memory that they call. In a copy of a process that fork() made without calling us, forgets what it recorded.
void make_ready();

// The session of the calling process; calls make_ready().
ActiveSession& session_here();

// Before a record gets a buffer: whether it belongs to what this process records. The first record of a forked child
// that is to have a file of its own begins it. Signal-safe.
bool is_this_process_recorded();

}  // namespace telltale::record
