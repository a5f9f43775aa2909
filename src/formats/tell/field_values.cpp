#include "formats/tell/field_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "base/text_encoding.h"
#include "formats/kineto/json_text.h"
#include "formats/kineto/scan.h"

namespace telltale::tell {
namespace {

using kineto::ArgumentKey;

bool is_between(ArgumentKey key, ArgumentKey first, ArgumentKey last) { return key >= first && key <= last; }

bool is_operator_input(ArgumentKey key) {
  return is_between(key, ArgumentKey::kInputShapes, ArgumentKey::kConcreteInputs);
}

// Recorders give these to all they record; elsewhere they are names like any other.
bool is_of_frameworks(Kind kind) {
  return kind != Kind::kAnnotation && kind != Kind::kOther && kind != Kind::kInstant && kind != Kind::kAsync;
}

// Whether a column holds that argument for events of that kind. `has_grid` and `has_collective` are about the site:
// launches and collectives are rows that exist only with these.
bool is_held(ArgumentKey key, Kind kind, bool has_grid, bool has_collective) {
  const bool is_linked = kind == Kind::kOperator || is_api_call(kind) || is_on_device(kind);
  if (key == ArgumentKey::kExternalId || key == ArgumentKey::kCorrelation) return is_linked;
  if (is_between(key, ArgumentKey::kSequence, ArgumentKey::kForwardThread)) return kind == Kind::kOperator;
  if (is_operator_input(key) || is_between(key, ArgumentKey::kCallStack, ArgumentKey::kModuleHierarchy)) return true;
  if (is_between(key, ArgumentKey::kRegisters, ArgumentKey::kOccupancy)) return has_grid && is_on_device(kind);
  if (is_between(key, ArgumentKey::kGraph, ArgumentKey::kGraphNode)) return is_api_call(kind) || is_on_device(kind);
  if (key == ArgumentKey::kBytes) return kind == Kind::kMemcpy || kind == Kind::kMemset;
  if (is_between(key, ArgumentKey::kSyncKind, ArgumentKey::kWaitOnEvent)) return kind == Kind::kSync;
  if (is_between(key, ArgumentKey::kCollectiveName, ArgumentKey::kIsAsync)) return has_collective;
  if (key == ArgumentKey::kDevice || key == ArgumentKey::kStream || key == ArgumentKey::kContext)
    return is_on_device(kind);
  if (is_between(key, ArgumentKey::kRecordFunctionId, ArgumentKey::kBandwidth)) return is_of_frameworks(kind);
  return false;
}

template <typename Number>
void append_number(std::string& out, Number number) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, end);
}

void append_float(std::string& out, double value) {
  if (std::isfinite(value))
    append_number(out, value);
  else
    append_json_string(out, std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
}

// The columns of operator inputs and launch sizes hold lists, which a text field spells as JSON.
void append_text(std::string& out, std::string_view text, ArgumentKey key) {
  const bool holds_list = is_operator_input(key) || key == ArgumentKey::kGrid || key == ArgumentKey::kBlock;
  const auto list = holds_list && text.starts_with('[') ? kineto::compact_json(text) : std::nullopt;
  if (list)
    out += *list;
  else
    append_json_string(out, text);
}

void append_shape(std::string& out, ByteReader& column, ArgumentKey key) {
  const bool is_list_of_shapes = key == ArgumentKey::kInputShapes || key == ArgumentKey::kInputStrides;
  out += is_list_of_shapes ? "[[" : "[";
  const std::uint64_t rank = column.varint();
  for (std::uint64_t i = 0; i < rank && column.is_good(); ++i) {
    if (i > 0) out += ',';
    append_number(out, column.signed_varint());
  }
  out += is_list_of_shapes ? "]]" : "]";
}

void append_value(std::string& out, const FieldPlan::Field& field, const Sites& sites, ByteReader& column) {
  switch (field.type) {
    case FieldType::kInteger:
      return append_number(out, column.signed_varint());
    case FieldType::kFloat:
      return append_float(out, column.float64());
    case FieldType::kText:
      return append_text(out, read_text(column), field.key);
    case FieldType::kShape:
      return append_shape(out, column, field.key);
    case FieldType::kName:
      return append_text(out, sites[sites.text(column.varint())], field.key);
  }
}

}  // namespace

FieldPlan::FieldPlan(const Site& site, const Sites& sites, Kind kind) {
  std::vector<ArgumentKey> keys;
  keys.reserve(site.fields.size());
  for (const SiteField& field : site.fields) keys.push_back(kineto::argument_key(sites[field.name]));
  const auto has = [&](ArgumentKey key) { return std::ranges::find(keys, key) != keys.end(); };
  const bool has_grid = has(ArgumentKey::kGrid) || has(ArgumentKey::kBlock);
  const bool has_collective = has(ArgumentKey::kCollectiveName);
  std::uint64_t used = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const ArgumentKey key = keys[i];
    const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(key);
    const bool is_first = (used & bit) == 0;
    used |= bit;
    Field& planned = fields_.emplace_back();
    planned.type = site.fields[i].type;
    planned.key = is_first && is_held(key, kind, has_grid, has_collective) ? key : ArgumentKey::kUnknown;
    append_json_string(planned.quoted_name, sites[site.fields[i].name]);
    planned.quoted_name += ':';
  }
}

bool FieldPlan::has_columns() const {
  return std::ranges::any_of(fields_, [](const Field& field) { return field.key != ArgumentKey::kUnknown; });
}

void FieldValues::read(const FieldPlan& plan, const Sites& sites, ByteReader& column) {
  text_.clear();
  others_.clear();
  parts_.clear();
  fields_.reset(nullptr);
  for (const FieldPlan::Field& field : plan.fields()) {
    if (field.key == ArgumentKey::kUnknown) {
      others_ += others_.empty() ? '{' : ',';
      others_ += field.quoted_name;
      append_value(others_, field, sites, column);
      continue;
    }
    const std::size_t begin = text_.size();
    append_value(text_, field, sites, column);
    parts_.push_back({field.key, begin, text_.size()});
    text_ += ',';
  }
  if (!others_.empty()) others_ += '}';
  if (parts_.empty()) return;
  text_.append(kineto::kPaddingBytes, kineto::kPadding);
  for (const Part& part : parts_) {
    fields_.has_argument |= std::uint64_t{1} << static_cast<unsigned>(part.key);
    fields_.argument[static_cast<std::size_t>(part.key)] = {text_.data() + part.begin, text_.data() + part.end};
  }
}

}  // namespace telltale::tell
