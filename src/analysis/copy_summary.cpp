#include "analysis/copy_summary.h"

namespace telltale {

CopySummary copy_summary(const Trace&, const StepTiming&) { return {}; }

}  // namespace telltale
