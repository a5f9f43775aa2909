// What a thread does for later, while somebody looks at the page.
#pragma once

namespace telltale::serve {

// From now on the calling thread, and those that it starts, give way to others where processors are short: to the
// browser that draws and to those who answer it. They keep about a quarter of what an ordinary thread gets, so that
// what they do ends on a busy machine, too. There is no way back. Where the system does not let us, nothing changes.
void give_way();

// From now on, what is freed at the end of a thread's heap goes back to the system at once. Otherwise each of these
// heaps keeps twice as much as the largest block that was ever freed, up to 64 MiB, out of reach of give_back_memory().
void keep_little_of_what_is_freed();

// What was freed goes back to the system; by itself, the allocator keeps most of it. Safe at any time, by any thread.
void give_back_memory();

}  // namespace telltale::serve
