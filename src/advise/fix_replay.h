// What a step takes when the fixes of several findings are made together.
//
// Each fix by itself saves what its finding says. Where that is less than the replay of its edit gives (as a finding
// promises no more than its events can pay), the difference is taken off all that it is tried with. Immutable and
// thread-safe; the trace must outlive it. One replay each time. With a larger batch, times are those of as many samples
// as there are in a step now.
//
// A graph takes more memory than its trace. Most people try no fix, so it is made when the first one does.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "advise/diagnosis.h"
#include "advise/facts.h"
#include "replay/kept_edit.h"
#include "replay/step_graph.h"
#include "replay/what_if.h"
#include "trace/trace.h"

namespace telltale {

struct FixedStep {
  Nanoseconds before = 0, after = 0;  // unobserved; after: for as many samples as before
  int batch = 1;                      // how many times the samples a batch has
  Bottleneck bottleneck = Bottleneck::kNeither;
};

// Why the fix of a finding cannot be tried, as a sentence; empty where it can.
std::string why_not_tried(const Finding& finding);

class FixReplay {
 public:
  // `diagnosis` has its findings, with their edits. The graph of its steps is not kept.
  FixReplay(const Trace& trace, const StepGraph& graph, const Diagnosis& diagnosis);

  // `findings` are indices of the diagnosis's; those that cannot be tried change nothing.
  FixedStep with(std::span<const std::size_t> findings) const;

 private:
  struct Fix {
    std::shared_ptr<const KeptEdit> edit;
    Nanoseconds saves = 0;    // as the finding says
    Nanoseconds differs = 0;  // by how much that is more than the replay says
  };
  Nanoseconds unobserved(const ReplayedStep& step, int batch) const;

  const Trace* trace_;
  StepTiming timing_;
  OnDemand<StepGraph> graph_;
  ObserverCost observer_;
  double rest_;
  Nanoseconds step_;
  std::vector<Fix> fixes_;  // by finding
};

}  // namespace telltale
