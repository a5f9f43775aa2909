// What rules and models say of a program that is drawn by hand.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/diagnosis.h"
#include "advise/facts.h"
#include "advise/finding.h"
#include "analysis/testing/program_sketch.h"
#include "trace/trace.h"

namespace telltale {

// What saves less than 1 % of the step is left out.
std::vector<Finding> findings_of(const Trace& trace, std::string_view rule);

// What a finding promises, in milliseconds.
inline double likely_ms(const Finding& finding) { return static_cast<double>(finding.saving.likely) / 1e6; }

// A program of a rule's test about which the rule has something to say, for sentences_test.cpp: one for each way in
// which a sentence can read, with counts of 0, 1 and 2 where they can occur. Defined as a constant beside the rule's
// tests.
struct RuleSample {
  RuleSample(std::string_view rule, std::string_view program, std::function<Trace()> draw);

  std::string rule, program;
  std::function<Trace()> draw;
};

// All that are defined, by rule and program.
std::vector<RuleSample> rule_samples();

// What a recording says of the machine it was made on.
struct MachineSketch {
  int processors = 1, threads = 1;  // of torch
  double busy = -1, own = -1;       // processors on average; negative: not measured
};

// The trace of a program on that machine.
Trace built_on(ProgramSketch& program, const MachineSketch& machine);

// A trace with all that rules may ask about it.
class KnownTrace {
 public:
  explicit KnownTrace(Trace drawn);
  KnownTrace(const KnownTrace&) = delete;
  KnownTrace& operator=(const KnownTrace&) = delete;

  // What a step takes after an edit, in milliseconds.
  double period_ms(const Edit& edit) const { return static_cast<double>(graph.replay(edit).period) / 1e6; }

  const Trace trace;
  const Diagnosis diagnosis;  // without findings
  const StepGraph graph;
  const Facts facts;
};

}  // namespace telltale
