// A request that is answered already, or how to answer it where that may take a while.
#pragma once

#include <functional>
#include <optional>

#include "serve/reply.h"

namespace telltale::serve {

struct Handling {
  std::optional<Reply> reply;
  std::function<Reply()>
      later;  // where there is no reply yet; called by any thread, once or, where nobody waits any more, never
  bool is_slow = false;
};

}  // namespace telltale::serve
