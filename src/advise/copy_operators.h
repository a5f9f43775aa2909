// The whole call that makes a copy: aten::to around aten::_to_copy around aten::copy_ around the API's call.
#pragma once

#include "trace/trace.h"

namespace telltale {

// The outermost of the operators around `launch` that do nothing but copy, with Python's call of it where one was
// recorded; `launch` itself where there is none.
EventId copying_call(const Trace& trace, EventId launch);

}  // namespace telltale
