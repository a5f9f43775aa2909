#include "report/json_lines.h"

namespace telltale {
namespace {

std::string compact(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

std::string in_lines(const Json& object) {
  std::string text = "{\n";
  std::size_t left = object.size();
  for (const auto& [key, value] : object.items()) {
    text += "  " + compact(Json(key)) + ": ";
    const bool is_list_of_objects = value.is_array() && !value.empty() && value.front().is_object();
    if (is_list_of_objects) {
      text += "[\n";
      for (std::size_t i = 0; i < value.size(); ++i) {
        text += "    " + compact(value[i]) + (i + 1 < value.size() ? ",\n" : "\n");
      }
      text += "  ]";
    } else {
      text += compact(value);
    }
    text += --left > 0 ? ",\n" : "\n";
  }
  return text + "}\n";
}

}  // namespace telltale
