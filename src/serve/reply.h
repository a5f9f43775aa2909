// What is sent back for a request, without what every reply has: see server.cpp.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telltale::serve {

inline constexpr std::string_view kJson = "application/json";
inline constexpr std::string_view kCsv = "text/csv; charset=utf-8";
inline constexpr std::string_view kBytes = "application/octet-stream";
inline constexpr std::string_view kPlainText = "text/plain; charset=utf-8";

struct Reply {
  unsigned status = 200;
  std::string_view type = kJson;
  std::string body;
  std::vector<std::pair<std::string_view, std::string>> fields = {};  // of the head, besides the usual ones
};

// A sentence instead of what was asked for at `path`: {"error": …} where the page asks, plain text where somebody looks
// at it in a browser.
Reply refusal(std::string_view path, unsigned status, std::string_view sentence);

}  // namespace telltale::serve
