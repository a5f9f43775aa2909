// Training steps whose memory is drawn by hand: what the forward pass keeps, what it frees at once, and what the
// optimizer keeps. The backward pass frees what is kept, the last first, in an operator each.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/testing/program_sketch.h"

namespace telltale {

inline constexpr std::int64_t kMebi = 1024 * 1024;

class MemorySketch {
 public:
  explicit MemorySketch(DeviceId device = kHost) : device_(device) {}

  void begin_step() { program_.begin_step(); }
  // An operator of the forward pass that makes a tensor for the backward pass of another. `types` as torch records
  // them; empty: not recorded.
  void keep(std::string_view op, std::int64_t bytes, std::string_view types = {}, std::string_view kept_for = "Mm");
  // An operator whose tensor is freed before the backward pass begins, when end_of_forward() is called.
  void make(std::string_view op, std::int64_t bytes);
  void end_of_forward();
  // The same outside of the model, as a metric is computed.
  void compute(std::string_view op, std::int64_t bytes) { passing_.push_back(run(op, bytes, {})); }
  // An operator at a line ("train.py(7): step") whose tensor is never freed.
  void leave(std::string_view op, std::int64_t bytes, std::string_view line, std::string_view types = {});
  // What the backward pass of an operator makes and frees again while all that is kept is there.
  void flow_back(std::string_view op, std::int64_t bytes, std::string_view types, std::string_view differentiated);
  // Gradients are made in it where they have a size; the optimizer frees them.
  void backward(std::int64_t gradient_bytes = 0);
  // The optimizer's step; its state is made in the first, temporaries are made and freed in each.
  void optimize(std::int64_t state_bytes = 0, std::int64_t temporary_bytes = 0);

  ProgramSketch& program() { return program_; }
  Trace build() { return program_.build(); }

 private:
  struct Made {
    std::uint64_t address = 0;
    std::int64_t bytes = 0;
    std::string_view kept_for;
  };
  Made run(std::string_view op, std::int64_t bytes, std::string_view types, std::string_view line = {});
  void free(const Made& made);

  ProgramSketch program_;
  DeviceId device_;
  std::uint64_t next_ = 1;
  std::vector<Made> kept_, passing_, gradients_;
  bool has_state_ = false;
};

}  // namespace telltale
