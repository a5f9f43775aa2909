// Programs drawn as they would run: one thread and one stream, where device work begins when its launch has returned
// and the work before it is done. What a change to the program would do can then be worked out by hand.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/testing/trace_sketch.h"
#include "trace/trace.h"

namespace telltale {

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
  // Work that a call of this length launches and waits for: it begins kLaunch after the call, and ends as long before
  // it.
  Handle blocking_launch(std::string_view call, Kind kind, std::string_view work, Nanoseconds duration);
  // A kernel of a call that is there already, behind all other work of the stream.
  Handle follow(Handle call, std::string_view kernel, Nanoseconds duration);
  // A kernel on another stream that waits for work of any.
  Handle launch_behind(Handle work, TrackId stream, Nanoseconds duration);
  // Waits for all that was launched, or for one work. Returns the call.
  Handle wait(std::string_view call = "cudaStreamSynchronize");
  Handle wait_for(Handle work, std::string_view call = "cudaEventSynchronize");

  Nanoseconds now() const { return now_; }
  Handle last_call() const { return last_call_; }  // into the device's API
  TrackId thread() const { return thread_; }
  TrackId stream() const { return stream_; }
  TraceSketch& sketch() { return sketch_; }
  EventId id(Handle event) const { return sketch_.id(event); }

  // Ends what is open. A program with calls of Python counts as recorded by our own recorder, which costs next to
  // nothing: what is worked out by hand for the program as it is drawn holds without the recorder, too.
  Trace build();

 private:
  Handle add_work(TrackId stream, Kind kind, std::string_view name, Nanoseconds start, Nanoseconds duration,
                  Handle call);
  Handle wait_until(Nanoseconds done, std::string_view call);

  TraceSketch sketch_;
  TrackId thread_ = sketch_.thread("main"), stream_ = sketch_.stream(0, 7);
  std::vector<Handle> open_;
  std::vector<Nanoseconds> end_of_;  // by handle, of device work
  Nanoseconds now_ = 0, stream_end_ = 0, device_end_ = 0;
  Handle last_call_ = 0;
  int steps_ = 0;
};

}  // namespace telltale
