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
    std::string quoted_name;  // and a colon
  };
  const std::vector<Field>& fields() const { return fields_; }
  // Whether some column holds one of them.
  bool has_columns() const;

 private:
  std::vector<Field> fields_;
};

// Used by one thread.
class FieldValues {
 public:
  // Takes the values of one record out of the column. The results below are valid until the next call.
  void read(const FieldPlan& plan, const Sites& sites, ByteReader& column);

  // Those that columns hold.
  const kineto::EventFields& fields() const { return fields_; }
  // A JSON object of all others; empty when there are none.
  std::string_view others() const { return others_; }

 private:
  struct Part {
    kineto::ArgumentKey key = kineto::ArgumentKey::kUnknown;
    std::size_t begin = 0, end = 0;  // of text_
  };

  std::string text_, others_;
  std::vector<Part> parts_;
  kineto::EventFields fields_;
};

}  // namespace telltale::tell
