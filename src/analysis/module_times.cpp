#include "analysis/module_times.h"

namespace telltale {

std::vector<ModuleTime> module_times(const Trace&, const StepTiming&, const std::vector<Phase>&) { return {}; }

}  // namespace telltale
