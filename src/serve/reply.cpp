#include "serve/reply.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace telltale::serve {

Reply refusal(std::string_view path, unsigned status, std::string_view sentence) {
  if (!path.starts_with("/api/")) return {.status = status, .type = kPlainText, .body = fmt::format("{}\n", sentence)};
  const nlohmann::json body = {{"error", sentence}};
  return {.status = status, .body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
}

}  // namespace telltale::serve
