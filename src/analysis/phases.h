// Time by what a training step is made of.
//
// Pure and thread-safe; linear in the trace's events.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/host_work.h"
#include "analysis/step_timing.h"
#include "trace/trace.h"

namespace telltale {

enum class Phase : std::uint8_t { kData, kCopy, kForward, kBackward, kOptimizer, kOther };
inline constexpr int kPhaseCount = static_cast<int>(Phase::kOther) + 1;
std::string_view name_of(Phase phase);

struct PhaseTime {
  Phase phase = Phase::kOther;
  // A step, on the threads that work for it: one that waits for another is not counted beside it, so that all phases
  // together are the host's time of a step.
  Nanoseconds cpu_ns = 0;
  Nanoseconds device_ns = 0;  // a step, of the device work it launched
};

// The phase of every event, inherited from what contains it: loader calls are data; operators with a forward operator
// as their cause, the autograd engine's, and calls that wait for them are backward; Optimizer.step and zero_grad are
// optimizer; host to device copies are copy; what has a sequence number, a module or a "forward" annotation around it
// is forward, and so is every operator of a trace without backward. Device work has the phase of its launch, that of a
// CUDA graph the phase that captured it, and a copy to the device always kCopy.
std::vector<Phase> phase_by_event(const Trace& trace, const std::vector<HostWork>& host_work);

// One row a phase, in the order of the enumeration.
std::vector<PhaseTime> phase_times(const Trace& trace, const StepTiming& timing, const std::vector<Phase>& phases);

}  // namespace telltale
