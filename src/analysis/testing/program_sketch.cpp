#include "analysis/testing/program_sketch.h"

#include <algorithm>
#include <string>

namespace telltale {

void ProgramSketch::begin_step() {
  while (!open_.empty()) close();
  open(Kind::kAnnotation, "ProfilerStep#" + std::to_string(++steps_));
}

ProgramSketch::Handle ProgramSketch::open(Kind kind, std::string_view name) {
  open_.push_back(sketch_.event(thread_, kind, name, now_, now_));
  return open_.back();
}

void ProgramSketch::close() {
  sketch_.set_end(open_.back(), now_);
  open_.pop_back();
}

ProgramSketch::Handle ProgramSketch::run(Kind kind, std::string_view name, Nanoseconds duration) {
  const Handle event = open(kind, name);
  spend(duration);
  close();
  if (is_api_call(kind)) last_call_ = event;
  return event;
}

ProgramSketch::Handle ProgramSketch::kernel(std::string_view op, Nanoseconds duration) {
  return kernel({.op = op, .duration = duration});
}

ProgramSketch::Handle ProgramSketch::kernel(const KernelSketch& kernel) {
  const Handle op = open(Kind::kOperator, kernel.op);
  if (!kernel.shapes.empty()) {
    sketch_.set_inputs(op, kernel.shapes);
    sketch_.set_types(op, kernel.types);
    sketch_.set_strides(op, kernel.strides);
  }
  const Handle work = launch("cudaLaunchKernel", Kind::kKernel, kernel.name, kernel.duration);
  if (kernel.blocks_per_multiprocessor >= 0) {
    KernelLaunch how;
    how.blocks_per_multiprocessor = kernel.blocks_per_multiprocessor;
    sketch_.set_launch(work, how);
  }
  close();
  return work;
}

ProgramSketch::Handle ProgramSketch::launch(std::string_view call, Kind kind, std::string_view work,
                                            Nanoseconds duration) {
  const Handle made_by = run(Kind::kRuntime, call, kLaunch);
  const Nanoseconds start = std::max(now_, stream_end_ + kBetween);
  stream_end_ = start + duration;
  return add_work(stream_, kind, work, start, duration, made_by);
}

ProgramSketch::Handle ProgramSketch::blocking_launch(std::string_view call, Kind kind, std::string_view work,
                                                     Nanoseconds duration) {
  const Handle made_by = run(Kind::kRuntime, call, kLaunch + duration + kLaunch);
  stream_end_ = now_ - kLaunch;
  return add_work(stream_, kind, work, stream_end_ - duration, duration, made_by);
}

ProgramSketch::Handle ProgramSketch::follow(Handle call, std::string_view kernel, Nanoseconds duration) {
  const Nanoseconds start = std::max(now_, stream_end_ + kBetween);
  stream_end_ = start + duration;
  return add_work(stream_, Kind::kKernel, kernel, start, duration, call);
}

ProgramSketch::Handle ProgramSketch::launch_behind(Handle work, TrackId stream, Nanoseconds duration) {
  const Handle call = run(Kind::kRuntime, "cudaLaunchKernel", kLaunch);
  return add_work(stream, Kind::kKernel, "kernel", std::max(now_, end_of_[work] + kBetween), duration, call);
}

ProgramSketch::Handle ProgramSketch::add_work(TrackId stream, Kind kind, std::string_view name, Nanoseconds start,
                                              Nanoseconds duration, Handle call) {
  const Handle work = sketch_.work(stream, kind, name, start, start + duration, call);
  end_of_.resize(work + 1);
  end_of_[work] = start + duration;
  device_end_ = std::max(device_end_, start + duration);
  return work;
}

ProgramSketch::Handle ProgramSketch::copy(std::string_view op, CopyInfo info, Nanoseconds duration, bool is_blocking) {
  open(Kind::kOperator, op);
  const Handle copy = launch("cudaMemcpyAsync", Kind::kMemcpy, "Memcpy", duration);
  sketch_.set_copy(copy, info);
  if (is_blocking) wait();
  close();
  return copy;
}

ProgramSketch::Handle ProgramSketch::wait(std::string_view call) { return wait_until(device_end_, call); }

ProgramSketch::Handle ProgramSketch::wait_for(Handle work, std::string_view call) {
  return wait_until(end_of_[work], call);
}

ProgramSketch::Handle ProgramSketch::wait_until(Nanoseconds done, std::string_view call) {
  return run(Kind::kRuntime, call, std::max(done - now_, Nanoseconds{0}) + kWakeUp);
}

Trace ProgramSketch::build() {
  while (!open_.empty()) close();
  Trace trace = sketch_.build();
  if (trace.devices.empty()) trace.devices.push_back({0, "GPU"});
  const std::vector<Kind>& kinds = trace.events.kind;
  if (std::ranges::find(kinds, Kind::kPython) != kinds.end()) trace.metadata.emplace_back("recorded", "{}");
  return trace;
}

}  // namespace telltale
