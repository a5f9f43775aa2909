// Prints what the tables of a trace say of themselves: as the part of docs/python.md that lists them, or as the
// properties of Python's Trace. tools/tables-page puts it into both.
#include <cstdio>
#include <string>
#include <string_view>

#include "bindings/core/trace_tables.h"

namespace telltale::python {
namespace {

// As pyarrow calls it.
std::string type_of(const ArrowColumn& column) {
  if (column.dictionary) return "text";
  if (!column.children.empty()) return "list of " + type_of(column.children.front());
  static constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {"c", "int8"},  {"C", "uint8"},  {"i", "int32"}, {"I", "uint32"}, {"l", "int64"}, {"L", "uint64"},
      {"f", "float"}, {"g", "double"}, {"b", "bool"},  {"u", "text"},   {"U", "text"},
  };
  for (const auto& [format, type] : kTypes)
    if (column.format == format) return std::string(type);
  return column.format;
}

std::string_view word_of(Unit unit) {
  switch (unit) {
    case Unit::kNone:
      return "";
    case Unit::kNanoseconds:
      return "ns";
    case Unit::kBytes:
      return "bytes";
    case Unit::kPercent:
      return "%";
  }
  return "";
}

std::string markdown_of(const NamedTable& named, const ArrowTable& table) {
  std::string text =
      "### `" + table.name + "`\n\n" + std::string(named.text) + "\n\n| column | type | |\n|---|---|---|\n";
  for (const ArrowColumn& column : table.columns) {
    const std::string_view unit = word_of(column.unit);
    text += "| `" + column.name + "` | " + type_of(column) + (unit.empty() ? "" : ", ") + std::string(unit) + " | " +
            std::string(column.text) + " |\n";
  }
  return text + "\n";
}

std::string property_of(const NamedTable& named) {
  const std::string name(named.name);
  return "    @property\n    def " + name + "(self) -> _core.Table:\n        \"\"\"" + std::string(named.text) +
         "\"\"\"\n        return self._core.table(\"" + name + "\")\n\n";
}

}  // namespace
}  // namespace telltale::python

int main(int count, char** words) {
  using namespace telltale;
  using namespace telltale::python;
  const bool wants_python = count == 2 && std::string_view(words[1]) == "--python";
  const auto trace = std::make_shared<const Trace>();
  std::string text;
  for (const NamedTable& named : all_tables()) {
    if (!wants_python)
      text += markdown_of(named, named.make(trace));
    else if (named.name != "events")  // a function, which takes kinds
      text += property_of(named);
  }
  std::fputs(text.c_str(), stdout);
}
