// The values of a record as the arguments of an event, which the Kineto reader knows how to place.
#pragma once

#include <string>
#include <vector>

#include "formats/kineto/event_fields.h"
#include "formats/tell/sites.h"
#include "tell/varint.h"
#include "trace/kind.h"

namespace telltale::tell {

// How the values of one site are written down, for events of one kind.
class FieldPlan {
 public:
  FieldPlan() = default;
  FieldPlan(const Site& site, const Sites& sites, Kind kind);

  struct Field {
    FieldType type = FieldType::kInteger;
    // The column that holds it; kUnknown where none does for this kind of event, so that it is kept by its name.
    kineto::ArgumentKey key = kineto::ArgumentKey::kUnknown;
    std::string quoted_name;
  };
  const std::vector<Field>& fields() const { return fields_; }

 private:
  std::vector<Field> fields_;
};

// Used by one thread.
class FieldValues {
 public:
  // Takes the values of one record out of the column. What it returns is valid until the next call and as long as the
  // plan.
  const kineto::EventFields& read(const FieldPlan& plan, ByteReader& column);

 private:
  struct Part {
    std::size_t begin = 0, end = 0;  // of text_
  };
  void append_value(const FieldPlan::Field& field, ByteReader& column);
  void append_float(double value);
  void append_text(std::string_view text, kineto::ArgumentKey key);
  void append_shape(ByteReader& column, kineto::ArgumentKey key);

  std::string text_;
  std::vector<Part> parts_;
  kineto::EventFields fields_;
};

}  // namespace telltale::tell
