#include "formats/read_trace.h"

#include "formats/input/text_input.h"
#include "formats/kineto/read.h"
#include "formats/tell/read.h"

namespace telltale {

Result<Trace> read_trace(const std::string& path, const ReadOptions& options) {
  auto input = open_text(path, options.max_text_bytes);
  if (!input) return std::unexpected(input.error());
  if (options.stop != nullptr) *input = stoppable(std::move(*input), *options.stop);
  constexpr std::size_t kLongestMagic = 8;
  std::string first_bytes(kLongestMagic, '\0');
  const auto got = (*input)->read(first_bytes);
  if (!got) return std::unexpected(got.error());
  first_bytes.resize(*got);
  const std::string name = path == "-" ? "standard input" : path;
  const bool is_tell = tell::is_tell(first_bytes);
  const auto whole = put_back(std::move(first_bytes), std::move(*input));
  return is_tell ? tell::read(*whole, name, options) : kineto::read(*whole, name, options);
}

}  // namespace telltale
