// Device work that rules look at: how much it is together, and which of it runs slowly because of its layout, widths or
// types.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "advise/facts.h"

namespace telltale {

// Device work of a trace's steps that a rule looks at as one: how much it is, and what of it tells most.
class CallSum {
 public:
  // The facts must outlive it.
  explicit CallSum(const Facts& facts) : facts_(facts) {}

  void add(EventId work) { add(work, facts_.trace.events.duration[work]); }
  // A call of which only a part counts.
  void add(EventId work, Nanoseconds part) {
    calls_.push_back(work);
    total_ += part;
  }

  bool empty() const { return calls_.empty(); }
  std::span<const EventId> calls() const { return calls_; }
  double calls_per_step() const { return static_cast<double>(calls_.size()) / facts_.steps(); }
  Nanoseconds total() const { return total_; }  // of all steps
  Nanoseconds time_per_step() const { return static_cast<Nanoseconds>(static_cast<double>(total_) / facts_.steps()); }

  // As many as a finding takes; not empty unless the sum is.
  std::vector<EventId> longest() const;

 private:
  const Facts& facts_;
  std::vector<EventId> calls_;
  Nanoseconds total_ = 0;
};

// How much of the device a call fills, from 0 to 1: by its blocks or, where these are not known, by its roofline; 0
// where neither is. Calls that leave room take no longer when several become one.
float filled_share(const Facts& facts, const DeviceCall& call);

// A kernel that reads or writes float64 alone: by the types of its operator's tensors or, where they are not known, by
// its own name.
bool computes_in_float64(const Facts& facts, const DeviceCall& call);

// Kernels that tell in which layout a convolutional network keeps its images. Tensor cores want the channels last;
// torch's default has them first (NCHW), and cuDNN then converts before and after each convolution.

// cuDNN's conversions between the layouts.
bool is_layout_conversion(std::string_view kernel);

// A batch norm over images with the channels first, by cuDNN or by torch itself.
bool is_batch_norm_in_nchw(std::string_view kernel);

// Tensor cores take 16-bit rows in pieces of 16 bytes.
inline constexpr std::int64_t kAlignedElements = 8;

// What remains of such a kernel's time once its dimensions are multiples of 8: on an H200 padding left 0.12 to 0.27 of
// it in four programs.
inline constexpr float kTimeLeftByPadding = 0.2F;

// A product in 16 bits whose kernel is one of those that libraries keep for odd widths and, where the operator's shapes
// are known, that has a dimension which is no multiple of 8 elements.
bool is_misaligned_product(const Facts& facts, const DeviceCall& call);

}  // namespace telltale
