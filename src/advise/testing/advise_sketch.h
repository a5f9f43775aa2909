// Programs drawn as they would run, for tests of rules: one thread and one stream, where device work begins when its
// launch has returned and the work before it is done. What a fix saves can then be worked out by hand.
#pragma once

#include <string_view>
#include <vector>

#include "advise/finding.h"
#include "analysis/testing/trace_sketch.h"
#include "trace/trace.h"

namespace telltale {

// What one rule says of a trace; what saves less than 1 % of the step is left out.
std::vector<Finding> findings_of(const Trace& trace, std::string_view rule);

// What a finding promises, in milliseconds.
inline double likely_ms(const Finding& finding) { return static_cast<double>(finding.saving.likely) / 1e6; }

inline constexpr Nanoseconds kMicrosecond = 1'000;
inline constexpr Nanoseconds kMillisecond = 1'000'000;

// A kernel and the operator that launches it, with what the operator's arguments were; empty: not recorded.
struct KernelSketch {
  std::string_view op = "aten::op", name = "kernel";
  Nanoseconds duration = 0;
  std::string_view shapes = {}, types = {}, strides = {};
  float blocks_per_multiprocessor = -1;
};

class ProgramSketch {
 public:
  using Handle = TraceSketch::Handle;
  static constexpr Nanoseconds kLaunch = 5 * kMicrosecond;   // how long a launching call takes
  static constexpr Nanoseconds kBetween = 1 * kMicrosecond;  // between works that wait for one another
  static constexpr Nanoseconds kWakeUp = 2 * kMicrosecond;   // from the end of work to that of the call that waits

  // Ends the step before, if there is one.
  void begin_step();

  // What comes until close() is within the event.
  Handle open(Kind kind, std::string_view name);
  void close();
  // The host is busy in an event that contains nothing.
  Handle run(Kind kind, std::string_view name, Nanoseconds duration);
  // The host is busy, and only what is open tells with what.
  void spend(Nanoseconds duration) { now_ += duration; }

  // A kernel, launched within an operator of the name that takes no longer than the launch. Returns the kernel.
  Handle kernel(std::string_view op, Nanoseconds duration);
  Handle kernel(const KernelSketch& kernel);
  // Work that a call without an operator launches.
  Handle launch(std::string_view call, Kind kind, std::string_view work, Nanoseconds duration);
  // A copy within the operator; the host waits for one that blocks. Returns the copy.
  Handle copy(std::string_view op, CopyInfo info, Nanoseconds duration, bool is_blocking);
  // Waits for all that was launched. Returns the call.
  Handle wait(std::string_view call = "cudaStreamSynchronize");

  Nanoseconds now() const { return now_; }
  TrackId thread() const { return thread_; }
  TrackId stream() const { return stream_; }
  TraceSketch& sketch() { return sketch_; }
  EventId id(Handle event) const { return sketch_.id(event); }

  // Ends what is open.
  Trace build();

 private:
  TraceSketch sketch_;
  TrackId thread_ = sketch_.thread("main"), stream_ = sketch_.stream(0, 7);
  std::vector<Handle> open_;
  Nanoseconds now_ = 0, stream_end_ = 0;
  int steps_ = 0;
};

}  // namespace telltale
