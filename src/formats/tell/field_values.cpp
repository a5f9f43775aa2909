#include "formats/tell/field_values.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "base/text_encoding.h"

namespace telltale::tell {
namespace {

// A site says itself where it stands, and allocations are records of their own: fields of these names are the user's.
bool is_of_fields(Attribute attribute) {
  if (attribute == Attribute::kUnknown) return false;
  const DetailTable table = info_of(attribute).table;
  return table != DetailTable::kSources && table != DetailTable::kMemory;
}

bool is_kept_frames(const SiteField& field, const Sites& sites) {
  return field.type == FieldType::kInteger && sites[field.name] == "Frames kept";
}

std::int32_t clamped(std::int64_t count) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(count, 0, kMost));
}

}  // namespace

FieldPlan::FieldPlan(const Site& site, const Sites& sites, Kind kind) {
  std::vector<Attribute> attributes;
  AttributeSet present;
  for (const SiteField& field : site.fields) {
    attributes.push_back(attribute_named(sites[field.name]));
    present.add(attributes.back());
  }
  AttributeSet used;
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    const Attribute attribute = attributes[i];
    const bool is_first = !used.has(attribute);
    used.add(attribute);
    const bool is_held = is_first && is_of_fields(attribute) && has_column(attribute, kind, present);
    Field& planned = fields_.emplace_back();
    planned.type = site.fields[i].type;
    planned.attribute = is_held ? attribute : Attribute::kUnknown;
    append_json_string(planned.quoted_name, sites[site.fields[i].name]);
    planned.quoted_name += ':';
    planned.is_kept_frames = is_kept_frames(site.fields[i], sites) && present.has(Attribute::kCallStack);
    tells_kept_frames_ |= planned.is_kept_frames;
  }
}

bool FieldPlan::has_columns() const {
  return std::ranges::any_of(fields_, [](const Field& field) { return field.attribute != Attribute::kUnknown; });
}

void FieldReader::read(const FieldPlan& plan, ByteReader& column, AttributeValues& into) {
  for (const FieldPlan::Field& field : plan.fields()) {
    if (field.is_kept_frames)
      kept_frames_ = clamped(column.signed_varint());
    else if (field.attribute == Attribute::kUnknown)
      read_other(field, column, into);
    else
      read_column(field, column, into);
  }
}

void FieldReader::read_column(const FieldPlan::Field& field, ByteReader& column, AttributeValues& into) {
  switch (field.type) {
    case FieldType::kInteger:
      return into.set(field.attribute, column.signed_varint());
    case FieldType::kFloat:
      return into.set_real(field.attribute, column.float64());
    case FieldType::kText: {
      const std::string_view text = read_text(column);
      return into.set_text(field.attribute, names_.strings.intern(is_utf8(text) ? text : repaired_utf8(text)));
    }
    case FieldType::kShape:
      return into.set_numbers(field.attribute, read_shape(column));
    case FieldType::kName:
      return into.set_text(field.attribute, texts_.of(sites_.text(column.varint())));
  }
}

void FieldReader::read_other(const FieldPlan::Field& field, ByteReader& column, AttributeValues& into) {
  switch (field.type) {
    case FieldType::kInteger:
      return into.add_other(field.quoted_name, column.signed_varint());
    case FieldType::kFloat:
      return into.add_other_real(field.quoted_name, column.float64());
    case FieldType::kText:
      return into.add_other_text(field.quoted_name, read_text(column));
    case FieldType::kShape:
      return into.add_other_numbers(field.quoted_name, read_shape(column));
    case FieldType::kName:
      return into.add_other_text(field.quoted_name, sites_[sites_.text(column.varint())]);
  }
}

const std::vector<std::int64_t>& FieldReader::read_shape(ByteReader& column) {
  shape_.clear();
  const std::uint64_t rank = column.varint();
  for (std::uint64_t i = 0; i < rank && column.is_good(); ++i) shape_.push_back(column.signed_varint());
  return shape_;
}

}  // namespace telltale::tell
