#include "advise/testing/advise_sketch.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace telltale {

namespace {

std::vector<RuleSample>& registry() {
  static std::vector<RuleSample> samples;
  return samples;
}

}  // namespace

RuleSample::RuleSample(std::string_view of_rule, std::string_view of_program, std::function<Trace()> drawing)
    : rule(of_rule), program(of_program), draw(std::move(drawing)) {
  registry().push_back(*this);
}

std::vector<RuleSample> rule_samples() {
  std::vector<RuleSample> samples = registry();
  std::ranges::sort(samples, {}, [](const RuleSample& sample) { return std::tie(sample.rule, sample.program); });
  return samples;
}

std::vector<Finding> findings_of(const Trace& trace, std::string_view rule) {
  DiagnosisOptions options;
  options.rules = {std::string(rule)};
  return diagnose(trace, options).findings;
}

Trace built_on(ProgramSketch& program, const MachineSketch& machine) {
  for (int i = 0; machine.busy >= 0 && i < 2; ++i) program.sketch().count("processors busy", i * 1000, machine.busy);
  for (int i = 0; machine.own >= 0 && i < 2; ++i) program.sketch().count("process processors", i * 1000, machine.own);
  Trace trace = program.build();
  trace.metadata.emplace_back("processors", fmt::format("\"{}\"", machine.processors));
  trace.metadata.emplace_back("torch_threads", fmt::format("\"{}\"", machine.threads));
  return trace;
}

KnownTrace::KnownTrace(Trace drawn)
    : trace(std::move(drawn)),
      diagnosis(diagnose(trace, {.rules = {"none"}})),
      graph(trace, diagnosis.timing, host_work_by_event(trace)),
      facts(trace, diagnosis, graph, host_work_by_event(trace), phase_by_event(trace, host_work_by_event(trace))) {}

}  // namespace telltale
