// Strings and values made clean, against what nlohmann-json and the oracle make of them.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/json_text.h"
#include "base/text_encoding.h"
#include "json_pieces.h"
#include "require.h"

namespace {

using telltale::fuzzing::require;
namespace oracle = telltale::oracle;

void check_value(std::string_view text) {
  const auto compact = telltale::compact_json(text);
  const bool is_valid = oracle::is_valid_json(text) && !text.starts_with("\xEF\xBB\xBF");
  if (is_valid) {
    require(compact.has_value(), "every JSON value can be made compact");
    require(*compact == oracle::compact(oracle::trimmed(text)), "only white space is taken out");
  }
  if (!compact) return;
  require(telltale::is_utf8(*compact), "compact JSON is UTF-8");
  require(telltale::compact_json(*compact) == compact, "compact JSON is as compact as it gets");
}

void check_string(std::string_view inside) {
  telltale::Repairs repairs;
  const std::string text = telltale::unescaped(inside, repairs);
  require(telltale::is_utf8(text), "a string is UTF-8");
  const std::string quoted = '"' + std::string(inside) + '"';
  if (!oracle::is_valid_json(quoted)) return;
  require(text == *oracle::decoded_string(quoted), "escapes mean what JSON says");
  require(!repairs.invalid_escape && !repairs.invalid_utf8, "a valid string needs no repair");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  check_value(text);
  check_string(text);
  return 0;
}
