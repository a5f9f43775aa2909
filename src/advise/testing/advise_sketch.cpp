#include "advise/testing/advise_sketch.h"

#include <string>

#include "advise/diagnosis.h"

namespace telltale {

std::vector<Finding> findings_of(const Trace& trace, std::string_view rule) {
  DiagnosisOptions options;
  options.rules = {std::string(rule)};
  return diagnose(trace, options).findings;
}

}  // namespace telltale
