// The values of a record as the attributes of an event.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/tell/sites.h"
#include "tell/varint.h"
#include "trace/attribute_values.h"
#include "trace/attributes.h"
#include "trace/kind.h"

namespace telltale::tell {

// What the fields of one site mean, for events of one kind.
class FieldPlan {
 public:
  FieldPlan() = default;
  FieldPlan(const Site& site, const Sites& sites, Kind kind);

  struct Field {
    FieldType type = FieldType::kInteger;
    // The attribute whose column holds it; kUnknown where none does for this kind of event, so that it is kept by its
    // name.
    Attribute attribute = Attribute::kUnknown;
    std::string quoted_name;      // and a colon
    bool is_kept_frames = false;  // says how many frames of the call stack are those of the event before
  };
  const std::vector<Field>& fields() const { return fields_; }
  // Whether some column holds one of them.
  bool has_columns() const;
  bool tells_kept_frames() const { return tells_kept_frames_; }

 private:
  std::vector<Field> fields_;
  bool tells_kept_frames_ = false;
};

// Used by one thread.
class FieldReader {
 public:
  FieldReader(const Sites& sites, LocalTexts& texts, LocalNames& names) : sites_(sites), texts_(texts), names_(names) {}

  // Takes the values of one record out of the column.
  void read(const FieldPlan& plan, ByteReader& column, AttributeValues& into);
  // Of the record read last, whose plan tells them.
  std::int32_t kept_frames() const { return kept_frames_; }

 private:
  void read_column(const FieldPlan::Field& field, ByteReader& column, AttributeValues& into);
  void read_other(const FieldPlan::Field& field, ByteReader& column, AttributeValues& into);
  const std::vector<std::int64_t>& read_shape(ByteReader& column);

  const Sites& sites_;
  LocalTexts& texts_;
  LocalNames& names_;
  std::vector<std::int64_t> shape_;
  std::int32_t kept_frames_ = 0;
};

}  // namespace telltale::tell
