#include "formats/tell/captured_nodes.h"

#include "formats/tell/known_fields.h"

namespace telltale::tell {

CapturedNodePlan::CapturedNodePlan(const Site& site, const Sites& sites) {
  constexpr KnownField<Field> kKnown[] = {{"graph id", FieldType::kInteger, Field::kGraph},
                                          {"graph node id", FieldType::kInteger, Field::kNode},
                                          {"original node id", FieldType::kInteger, Field::kOriginal},
                                          {"Call stack", FieldType::kName, Field::kStack}};
  fields_ = known_fields(site, sites, "CUDA graph node", kKnown);
}

BatchCapturedNode CapturedNodePlan::read(ByteReader& column, const Sites& sites, LocalTexts& texts) const {
  BatchCapturedNode node;
  for (const Field field : fields_) {
    switch (field) {
      case Field::kGraph:
        column.varint();
        break;
      case Field::kNode:
        node.node = column.signed_varint();
        break;
      case Field::kOriginal:
        node.original = column.signed_varint();
        break;
      case Field::kStack:
        node.call_stack = texts.of(sites.text(column.varint()));
        break;
    }
  }
  return node;
}

}  // namespace telltale::tell
