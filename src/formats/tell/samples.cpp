#include "formats/tell/samples.h"

#include <string_view>

namespace telltale::tell {

SamplePlan::SamplePlan(const Site& site, const Sites& sites) {
  if (sites[site.name] != "sample") return;
  struct Known {
    std::string_view name;
    FieldType type;
    Field field;
  };
  constexpr Known kKnown[] = {{"Thread", FieldType::kInteger, Field::kThread},
                              {"Call stack", FieldType::kName, Field::kStack},
                              {"Waits for", FieldType::kName, Field::kWaitsFor},
                              {"Processor time", FieldType::kInteger, Field::kProcessorTime}};
  std::vector<Field> fields;
  unsigned seen = 0;
  for (const SiteField& field : site.fields)
    for (const Known& known : kKnown)
      if (sites[field.name] == known.name && field.type == known.type) {
        fields.push_back(known.field);
        seen |= 1U << static_cast<unsigned>(known.field);
      }
  const bool has_all = seen == (1U << std::size(kKnown)) - 1;
  if (has_all && fields.size() == site.fields.size()) fields_ = std::move(fields);
}

Sample SamplePlan::read(ByteReader& column, const Sites& sites) const {
  Sample sample;
  for (const Field field : fields_) {
    switch (field) {
      case Field::kThread:
        sample.thread = column.signed_varint();
        break;
      case Field::kStack:
        sample.stack = sites.text(column.varint());
        break;
      case Field::kWaitsFor:
        sample.waits_for = sites.text(column.varint());
        break;
      case Field::kProcessorTime:
        column.varint();
        break;
    }
  }
  return sample;
}

}  // namespace telltale::tell
