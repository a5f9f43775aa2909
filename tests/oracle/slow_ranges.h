// Numbers that columns would take and that do not fit them.
#pragma once

#include <vector>

#include "slow_rows.h"
#include "trace/anomalies.h"

namespace telltale::oracle {

// Counts kNumberOutOfRange for the arguments of rows and of complete memory events: once for each value that a column
// of that row would hold.
void count_numbers_out_of_range(const std::vector<SlowRow>& rows, const std::vector<const SlowEvent*>& memory,
                                Anomalies& anomalies);

}  // namespace telltale::oracle
