#include "report/csv.h"

#include <optional>
#include <string_view>
#include <vector>

#include "base/text_encoding.h"

namespace telltale {
namespace {

std::string quoted(std::string_view field) {
  std::string text;
  append_csv_field(text, field);
  return text;
}

std::string number(std::optional<std::int64_t> value) { return value ? std::to_string(*value) : std::string(); }

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += separator;
    text += parts[i];
  }
  return text;
}

}  // namespace

std::string to_csv(const KeyAverages& averages) {
  std::string text =
      "name,kind,calls,self_cpu_ns,cpu_ns,cpu_once_ns,self_device_ns,device_ns,cpu_memory_bytes,"
      "self_cpu_memory_bytes,device_memory_bytes,self_device_memory_bytes,flops,input_shapes,stack,source";
  text += kCsvLineEnd;
  for (const KeyAverage& row : averages.rows) {
    const std::vector<std::string> fields = {
        quoted(row.name),
        std::string(name_of(row.kind)),
        number(row.calls),
        number(row.self_cpu_ns),
        number(row.cpu_ns),
        number(row.cpu_once_ns),
        number(row.self_device_ns),
        number(row.device_ns),
        number(row.cpu_memory_bytes),
        number(row.self_cpu_memory_bytes),
        number(row.device_memory_bytes),
        number(row.self_device_memory_bytes),
        number(row.flops),
        row.input_shapes ? quoted(to_string(*row.input_shapes)) : std::string(),
        row.stack ? quoted(joined(*row.stack, ";")) : std::string(),
        row.source ? quoted(row.source->file + ':' + std::to_string(row.source->line)) : std::string(),
    };
    text += joined(fields, ",").append(kCsvLineEnd);
  }
  return text;
}

}  // namespace telltale
