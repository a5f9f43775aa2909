#include "analysis/communication.h"

namespace telltale {

double Communication::overlap_percent() const { return 100; }
Communication communication(const Trace&, const StepTiming&) { return {}; }

}  // namespace telltale
