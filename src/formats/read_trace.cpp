#include "formats/read_trace.h"

#include "formats/input/text_input.h"
#include "formats/kineto/read.h"

namespace telltale {

Result<Trace> read_trace(const std::string& path, const ReadOptions& options) {
  auto input = open_text(path, options.max_text_bytes);
  if (!input) return std::unexpected(input.error());
  return kineto::read(**input, path == "-" ? "standard input" : path, options);
}

}  // namespace telltale
