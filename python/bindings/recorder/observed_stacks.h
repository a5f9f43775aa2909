// The stack that a thread is in when it calls an operator, seen from within the call. The torch adapter asks for it.
#pragma once

#include <cstdint>

namespace telltale::python {

// What the adapter calls on the thread at hand, with or without the GIL. `is_new`: the thread was in no operator. 0
// when there is nothing to tell: no Python there, or the same call as for the operator around. `stack` is the number of
// a text (see stack_texts.h), `kept` how many of its outermost calls are those of the time before.
extern "C" int telltale_python_stack(int is_new, std::uint32_t* stack, std::uint32_t* kept);

}  // namespace telltale::python
