// The page itself: the files that web/ is built into, inside the binary. No file is opened for a request.
#pragma once

#include <span>
#include <string_view>

namespace telltale::serve {

struct PageFile {
  std::string_view path;  // "/page.js"
  std::string_view type;
  std::string_view content;
};

std::span<const PageFile> page_files();

}  // namespace telltale::serve
