// The stack that a thread is in when it calls an operator or captures a node of a CUDA graph, seen from within the
// call. The torch adapter asks for the one, the library for devices for the other.
#pragma once

#include <cstdint>

namespace telltale::python {

// What the adapter calls on the thread at hand, with or without the GIL. `is_new`: the thread was in no operator. 0
// when there is nothing to tell: no Python there, or the same call as for the operator around. `stack` is the number of
// a text (see stack_texts.h), `kept` how many of its outermost calls are those of the time before.
extern "C" int telltale_python_stack(int is_new, std::uint32_t* stack, std::uint32_t* kept);

// What CUPTI's callbacks call, in which the driver may hold a lock that a thread with the GIL waits for: never takes
// the GIL. The same otherwise, but that `kept` is left as it is.
extern "C" int telltale_python_stack_without_gil(int is_new, std::uint32_t* stack, std::uint32_t* kept);

}  // namespace telltale::python
