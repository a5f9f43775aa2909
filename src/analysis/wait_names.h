// What a Python call waits for that neither computes nor talks to a device: the time of a sleep, a lock, a socket.
//
// Recordings show waits in two ways. Where stacks are sampled, the reader makes a leaf "<waits for lock>" of what the
// kernel says the thread is blocked in. Where every call is recorded, built-ins are known by name, and may return at
// once: what they take is the time of the wait all the same.
//
// Pure and thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/trace.h"

namespace telltale {

enum class WaitFor : std::uint8_t {
  kNothing,
  kSleep,    // time.sleep
  kLock,     // a lock, a condition, a queue between threads, the end of a thread
  kSocket,   // a network peer
  kPipe,     // another process at the end of a pipe
  kFile,     // reading or writing files
  kProcess,  // a child process, or a pool of them
  kPoll,     // whatever comes first, as event loops do
  kOther,    // the kernel says that the thread is blocked, and no more
};
inline constexpr int kWaitForCount = static_cast<int>(WaitFor::kOther) + 1;

// "sleep", "lock", …; "nothing".
std::string_view name_of(WaitFor what);

// After "waits for": "a sleep", "another process".
std::string_view phrase_of(WaitFor what);

// By the name of a Python call alone; kNothing for all calls that do not wait.
WaitFor wait_of_call(std::string_view call);

// What a call that waits by its name waits for, with the library functions that make it in mind: a lock within
// multiprocessing, or a poll within subprocess, waits for a process.
WaitFor waited_for(const Trace& trace, EventId call);

}  // namespace telltale
