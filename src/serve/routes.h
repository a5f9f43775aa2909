// Which URL asks which question: a table, see routes.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "answers/view.h"
#include "base/error.h"
#include "serve/parameters.h"
#include "serve/reply.h"

namespace telltale::serve {

struct Route {
  std::string_view path;  // "/api/tiles"
  // Slow answers take as long as an analysis; they wait for each other, and quick ones for none of them.
  // What only needs the diagnosis of its steps is quick once that is known.
  enum class Speed { kQuick, kQuickOnceDiagnosed, kSlow } speed;
  // An error is a sentence about what makes no sense in the request.
  Result<Reply> (*answer)(const answers::View& view, Parameters& parameters);
};

std::span<const Route> routes();

// Whether the answer to a query would be slow now.
bool is_slow(const Route& route, const answers::View& view, const std::string& query);

}  // namespace telltale::serve
