// What a thread was seen at: samples of Python stacks, as a recorder's own thread takes them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "formats/tell/sites.h"

namespace telltale::tell {

struct Sample {
  Nanoseconds time = 0;
  std::int64_t thread = 0;            // its native id
  StringId stack = kEmptyString;      // a text of Sites: frames joined by ";", innermost first
  StringId waits_for = kEmptyString;  // a text of Sites: "sleep", "lock"; empty: it runs
};

// Whether records of a site are samples, and how their values are read. docs/formats/tell.md says what makes a site
// one.
class SamplePlan {
 public:
  SamplePlan() = default;
  SamplePlan(const Site& site, const Sites& sites);

  bool is_of_samples() const { return !fields_.empty(); }
  // All but the time.
  Sample read(ByteReader& column, const Sites& sites) const;

 private:
  enum class Field : std::uint8_t { kThread, kStack, kWaitsFor, kProcessorTime };
  std::vector<Field> fields_;
};

}  // namespace telltale::tell
