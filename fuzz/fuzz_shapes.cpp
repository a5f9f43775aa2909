// The texts of operator inputs, against nlohmann-json.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "require.h"
#include "trace/shapes.h"

namespace {

using telltale::fuzzing::require;

bool is_flat_list_of_sizes(const nlohmann::json& value) {
  if (!value.is_array()) return false;
  for (const auto& element : value)
    if (!element.is_number_integer() ||
        (element.is_number_unsigned() && !std::in_range<std::int64_t>(element.get<std::uint64_t>())))
      return false;
  return true;
}

// Those that shapes.h leaves as they are written.
bool has_rare_escapes(std::string_view text) {
  for (std::size_t at = text.find('\\'); at != std::string_view::npos && at + 1 < text.size();
       at = text.find('\\', at + 2))
    if (std::string_view("\"\\/nt").find(text[at + 1]) == std::string_view::npos) return true;
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto shapes = telltale::tensor_shapes(text);
  const auto values = telltale::concrete_values(text);
  telltale::whole_numbers(text);
  telltale::to_string(shapes);

  const bool has_end_mark = text.find('\0') != std::string_view::npos;  // which nlohmann-json takes for the end
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (has_end_mark || !json.is_array()) return 0;
  bool has_only_shapes = true, has_only_texts = true;
  for (const auto& element : json) {
    has_only_shapes = has_only_shapes && is_flat_list_of_sizes(element);
    has_only_texts = has_only_texts && element.is_string();
  }
  if (has_only_shapes) {
    require(shapes.size() == json.size(), "one shape an argument");
    for (std::size_t i = 0; i < shapes.size(); ++i)
      require(json[i].get<telltale::Shape>() == shapes[i], "the sizes of a shape");
  }
  if (has_only_texts && !has_rare_escapes(text)) {
    require(values.size() == json.size(), "one value an argument");
    for (std::size_t i = 0; i < values.size(); ++i)
      require(json[i].get<std::string>() == values[i], "the text of a value");
  }
  return 0;
}
