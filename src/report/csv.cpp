#include "report/csv.h"

#include <string_view>
#include <vector>

#include "base/text_encoding.h"
#include "report/description.h"
#include "report/result_fields.h"

namespace telltale {
namespace {

// The members of a row, and how each stands in a field.
class CsvFields {
 public:
  void object(std::string_view, std::string_view) {}

  template <typename Value>
  void member(std::string_view name, const Value& value, std::string_view) {
    const std::string_view comma = names_.empty() ? "" : ",";
    names_.append(comma).append(name);
    append_csv_field(row_.append(comma), text_of(value));
  }

  const std::string& names() const { return names_; }
  const std::string& row() const { return row_; }

 private:
  template <typename Value>
  static std::string text_of(const std::optional<Value>& value) {
    return value ? text_of(*value) : std::string();
  }
  static std::string text_of(std::string_view text) { return std::string(text); }
  static std::string text_of(std::int64_t number) { return std::to_string(number); }
  static std::string text_of(Kind kind) { return std::string(name_of(kind)); }
  static std::string text_of(const std::vector<Shape>& shapes) { return to_string(shapes); }
  static std::string text_of(const SourceLine& source) { return source.file + ':' + std::to_string(source.line); }
  static std::string text_of(const std::vector<std::string>& stack) {
    std::string text;
    for (std::size_t i = 0; i < stack.size(); ++i) text += (i > 0 ? ";" : "") + stack[i];
    return text;
  }

  std::string names_, row_;
};

CsvFields fields_of(const KeyAverage& row) {
  CsvFields fields;
  describe(fields, row);
  return fields;
}

}  // namespace

std::string to_csv(const KeyAverages& averages) {
  std::string text = fields_of(KeyAverage()).names();
  text += kCsvLineEnd;
  for (const KeyAverage& row : averages.rows) text.append(fields_of(row).row()).append(kCsvLineEnd);
  return text;
}

}  // namespace telltale
