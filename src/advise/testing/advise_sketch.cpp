#include "advise/testing/advise_sketch.h"

#include <string>
#include <utility>

namespace telltale {

std::vector<Finding> findings_of(const Trace& trace, std::string_view rule) {
  DiagnosisOptions options;
  options.rules = {std::string(rule)};
  return diagnose(trace, options).findings;
}

KnownTrace::KnownTrace(Trace drawn)
    : trace(std::move(drawn)),
      diagnosis(diagnose(trace, {.rules = {"none"}})),
      graph(trace, diagnosis.timing, host_work_by_event(trace)),
      facts(trace, diagnosis, graph, host_work_by_event(trace), phase_by_event(trace, host_work_by_event(trace))) {}

}  // namespace telltale
