#include "advise/testing/advise_sketch.h"

#include <algorithm>
#include <string>

#include "advise/diagnosis.h"

namespace telltale {

std::vector<Finding> findings_of(const Trace& trace, std::string_view rule) {
  DiagnosisOptions options;
  options.rules = {std::string(rule)};
  return diagnose(trace, options).findings;
}

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
  return sketch_.work(stream_, kind, work, start, stream_end_, made_by);
}

ProgramSketch::Handle ProgramSketch::copy(std::string_view op, CopyInfo info, Nanoseconds duration, bool is_blocking) {
  open(Kind::kOperator, op);
  const Handle copy = launch("cudaMemcpyAsync", Kind::kMemcpy, "Memcpy", duration);
  sketch_.set_copy(copy, info);
  if (is_blocking) wait();
  close();
  return copy;
}

ProgramSketch::Handle ProgramSketch::wait(std::string_view call) {
  return run(Kind::kRuntime, call, std::max(stream_end_ - now_, Nanoseconds{0}) + kWakeUp);
}

Trace ProgramSketch::build() {
  while (!open_.empty()) close();
  Trace trace = sketch_.build();
  if (trace.devices.empty()) trace.devices.push_back({0, "GPU"});
  return trace;
}

}  // namespace telltale
