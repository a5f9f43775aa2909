// What a recording of a device says of its own quality: records that were dropped, and how well the clocks agree.
#pragma once

#include "trace/trace.h"

namespace telltale::tell {

// What a process says of itself stays with all its recordings. One without a call of CUDA, behind one with some, loses
// what that said of CUDA. Linear in the trace's events.
void forget_earlier_devices(Trace& trace);

// Counts as anomalies: `cupti_dropped_records`, what `lost_device_records` names, and device work that starts before
// its launch by more than the residual of `device_clock` allows. Nothing is moved. Linear in the trace's events.
void note_quality_of_device_records(Trace& trace);

}  // namespace telltale::tell
