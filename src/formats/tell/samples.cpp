#include "formats/tell/samples.h"

#include "formats/tell/known_fields.h"

namespace telltale::tell {

SamplePlan::SamplePlan(const Site& site, const Sites& sites) {
  constexpr KnownField<Field> kKnown[] = {{"Thread", FieldType::kInteger, Field::kThread},
                                          {"Call stack", FieldType::kName, Field::kStack},
                                          {"Waits for", FieldType::kName, Field::kWaitsFor},
                                          {"Processor time", FieldType::kInteger, Field::kProcessorTime}};
  fields_ = known_fields(site, sites, "sample", kKnown);
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
