// The core's errors as Python's exceptions.
#pragma once

#include <string>
#include <utility>

#include "base/error.h"

namespace telltale::python {

// Throws telltale.TelltaleError with the error's sentence. The GIL must be held.
[[noreturn]] void raise(const Error& error);

template <typename Value>
Value value_or_raise(Result<Value> result) {
  if (!result) raise(result.error());
  return *std::move(result);
}

}  // namespace telltale::python
