#include "analysis/sync_points.h"

namespace telltale {

std::vector<SyncPoint> sync_points(const Trace&, const StepTiming&, const StepBreakdown&) { return {}; }

}  // namespace telltale
