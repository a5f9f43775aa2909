// What a thread that does not run waits for, as the kernel tells.
#pragma once

#include <cstdint>
#include <string_view>

namespace telltale::python {

// "sleep", "lock", "socket", "pipe", "file", "process", "poll" or "other"; "" when it runs, or would if it were let. Of
// a thread of this process.
std::string_view what_thread_waits_for(std::int64_t native_id);

// How long it has run, in nanoseconds; −1 when it is gone.
std::int64_t time_thread_ran(std::int64_t native_id);

}  // namespace telltale::python
