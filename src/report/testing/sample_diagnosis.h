// A trace and its diagnosis made by hand, with everything a view can show, for tests of the views.
//
// A step takes 58 ms as recorded and 48.5 ms unobserved, of which: matmul 31 %, attention 22, elementwise 11, other 7;
// idle: launching 18 %, sync 8, data loading 3.
#pragma once

#include <string_view>

#include "advise/diagnosis.h"
#include "trace/trace.h"

namespace telltale {

struct SampleDiagnosis {
  Trace trace;
  Diagnosis diagnosis;
};

inline constexpr std::string_view kPlainKernel = "ampere_sgemm_128x64_tn";

// `kernel` is the name of a kernel that occurs as evidence, in tables and in the strip of a step.
SampleDiagnosis sample_diagnosis(std::string_view kernel = kPlainKernel);

// A trace without a device, of a program that does nothing worth mending.
SampleDiagnosis healthy_host_diagnosis();

// A recording of a server, 2 s long: two workers that are busy for 38 and 30 % of it and serve 851 requests, which wait
// for 72 % of their time, for nine tenths of that while a worker is idle; a thread of clients; a counter.
SampleDiagnosis server_diagnosis();

}  // namespace telltale
