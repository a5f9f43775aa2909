// What a recording of a device says of its own quality: records that were dropped, and how well the clocks agree.
#pragma once

#include "trace/trace.h"

namespace telltale::tell {

// Counts as anomalies: `cupti_dropped_records`, what `lost_device_records` names, and device work that starts before
// its launch by more than the residual of `device_clock` allows. Nothing is moved. Linear in the trace's events.
void note_quality_of_device_records(Trace& trace);

}  // namespace telltale::tell
