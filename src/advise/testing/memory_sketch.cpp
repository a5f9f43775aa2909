#include "advise/testing/memory_sketch.h"

#include <ranges>
#include <string>

namespace telltale {

MemorySketch::Made MemorySketch::run(std::string_view op, std::int64_t bytes, std::string_view types,
                                     std::string_view line) {
  const ProgramSketch::Handle handle = program_.open(Kind::kOperator, op);
  if (!types.empty()) {
    program_.sketch().set_inputs(handle, "[[8, 8], [8, 8]]");
    program_.sketch().set_types(handle, types);
  }
  if (!line.empty()) program_.sketch().set_call_stack(handle, line);
  program_.spend(kMillisecond);
  const Made made{next_++, bytes, {}};
  program_.sketch().allocate(program_.thread(), program_.now(), bytes, device_, made.address);
  program_.spend(kMillisecond);
  program_.close();
  return made;
}

void MemorySketch::free(const Made& made) {
  program_.sketch().allocate(program_.thread(), program_.now(), -made.bytes, device_, made.address);
}

void MemorySketch::keep(std::string_view op, std::int64_t bytes, std::string_view types, std::string_view kept_for) {
  program_.open(Kind::kModule, "nn.Module: Net_0");
  kept_.push_back(run(op, bytes, types));
  kept_.back().kept_for = kept_for;
  program_.close();
}

void MemorySketch::make(std::string_view op, std::int64_t bytes) {
  program_.open(Kind::kModule, "nn.Module: Net_0");
  passing_.push_back(run(op, bytes, {}));
  program_.close();
}

void MemorySketch::leave(std::string_view op, std::int64_t bytes, std::string_view line, std::string_view types) {
  program_.open(Kind::kModule, "nn.Module: Net_0");
  run(op, bytes, types, line);
  program_.close();
}

void MemorySketch::end_of_forward() {
  program_.open(Kind::kOperator, "aten::detach");
  program_.spend(kMillisecond);
  for (const Made& made : passing_) free(made);
  passing_.clear();
  program_.spend(kMillisecond);
  program_.close();
}

void MemorySketch::flow_back(std::string_view op, std::int64_t bytes, std::string_view types,
                             std::string_view differentiated) {
  program_.open(Kind::kOperator, "autograd::engine::evaluate_function: " + std::string(differentiated) + "Backward0");
  const Made made = run(op, bytes, types);
  program_.spend(kMillisecond);
  free(made);
  program_.spend(kMillisecond);
  program_.close();
}

void MemorySketch::backward(std::int64_t gradient_bytes) {
  for (const Made& made : std::views::reverse(kept_)) {
    program_.open(Kind::kOperator, "autograd::engine::evaluate_function: " + std::string(made.kept_for) + "Backward0");
    program_.spend(kMillisecond);
    free(made);
    program_.spend(kMillisecond);
    program_.close();
  }
  kept_.clear();
  if (gradient_bytes > 0)
    gradients_.push_back(run("autograd::engine::evaluate_function: MmBackward0", gradient_bytes, {}));
}

void MemorySketch::optimize(std::int64_t state_bytes, std::int64_t temporary_bytes) {
  program_.open(Kind::kAnnotation, "Optimizer.step#Adam.step");
  program_.spend(kMillisecond);
  if (state_bytes > 0 && !has_state_) run("aten::zeros_like", state_bytes, {});
  has_state_ = true;
  if (temporary_bytes > 0) free(run("aten::_foreach_sqrt", temporary_bytes, {}));
  for (const Made& made : gradients_) free(made);
  gradients_.clear();
  program_.spend(kMillisecond);
  program_.close();
}

}  // namespace telltale
