// Starts the writer's thread, whatever the host has done to threads: signals, stacks, thread-local variables.
#pragma once

#include <pthread.h>

namespace telltale::record {

// 0 or an errno. The thread has all signals but those of faults blocked.
int start_writer_thread(pthread_t& thread, void* (*run)(void*), void* argument);

}  // namespace telltale::record
