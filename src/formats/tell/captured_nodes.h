// Nodes of CUDA graphs, as a recorder notes them where they are captured.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/tell/sites.h"
#include "trace/event_batch.h"

namespace telltale::tell {

// Whether instants of a site are such notes, and how their values are read. docs/formats/tell.md says what makes a site
// one.
class CapturedNodePlan {
 public:
  CapturedNodePlan() = default;
  CapturedNodePlan(const Site& site, const Sites& sites);

  bool is_of_nodes() const { return !fields_.empty(); }
  // All but time and track; the stack in the names of `texts`.
  BatchCapturedNode read(ByteReader& column, const Sites& sites, LocalTexts& texts) const;

 private:
  enum class Field : std::uint8_t { kGraph, kNode, kOriginal, kStack };
  std::vector<Field> fields_;
};

}  // namespace telltale::tell
