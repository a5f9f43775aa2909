// What one rule says of a program that is drawn by hand.
#pragma once

#include <string_view>
#include <vector>

#include "advise/finding.h"
#include "analysis/testing/program_sketch.h"
#include "trace/trace.h"

namespace telltale {

// What saves less than 1 % of the step is left out.
std::vector<Finding> findings_of(const Trace& trace, std::string_view rule);

// What a finding promises, in milliseconds.
inline double likely_ms(const Finding& finding) { return static_cast<double>(finding.saving.likely) / 1e6; }

}  // namespace telltale
