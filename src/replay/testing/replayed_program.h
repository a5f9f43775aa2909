// A program that is drawn as it would run, and then replayed after an edit.
#pragma once

#include <functional>
#include <optional>

#include "analysis/testing/program_sketch.h"
#include "replay/step_graph.h"

namespace telltale {

using MakeEdit = std::function<void(const Trace&, Edit&)>;

inline ReplayedStep replayed_step(const Trace& trace, const MakeEdit& make_edit = {}) {
  const StepTiming timing = step_timing(trace);
  const StepGraph graph(trace, timing, host_work_by_event(trace));
  Edit edit;
  if (make_edit) make_edit(trace, edit);
  return graph.replay(edit);
}

// Is drawn no further once it has been replayed.
class ReplayedProgram : public ProgramSketch {
 public:
  Handle kernel(Nanoseconds duration) { return launch("cudaLaunchKernel", Kind::kKernel, "kernel", duration); }

  ReplayedStep replayed(const MakeEdit& make_edit = {}) { return replayed_step(trace(), make_edit); }
  bool is_launch_blocking() {
    const StepTiming timing = step_timing(trace());
    return StepGraph(trace(), timing, host_work_by_event(trace())).is_launch_blocking();
  }

 private:
  const Trace& trace() {
    if (!built_) built_ = build();
    return *built_;
  }
  std::optional<Trace> built_;
};

}  // namespace telltale
