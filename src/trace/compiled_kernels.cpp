#include "trace/compiled_kernels.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace telltale {

std::vector<CompiledKernel> compiled_kernels(std::string_view json_text) {
  std::vector<CompiledKernel> kernels;
  const auto all = nlohmann::json::parse(json_text, nullptr, false);
  if (!all.is_object()) return kernels;
  for (const auto& [name, told] : all.items()) {
    if (!told.is_object()) continue;
    const auto file = told.find("file"), function = told.find("function"), line = told.find("line");
    if (file == told.end() || !file->is_string() || line == told.end() || !line->is_number_unsigned()) continue;
    const auto number = line->get<std::uint64_t>();
    if (!std::in_range<std::int32_t>(number)) continue;
    const bool has_function = function != told.end() && function->is_string();
    kernels.push_back({name, file->get<std::string>(), has_function ? function->get<std::string>() : std::string(),
                       static_cast<std::int32_t>(number)});
  }
  return kernels;
}

}  // namespace telltale
