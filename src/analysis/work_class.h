// What kind of work a device does in an event, whatever library wrote the kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace telltale {

enum class WorkClass : std::uint8_t {
  kMatmul,
  kConvolution,
  kAttention,
  kNormalization,
  kElementwise,
  kReduction,
  kOptimizer,
  kCopy,
  kCommunication,
  kOther,
};
inline constexpr int kWorkClassCount = static_cast<int>(WorkClass::kOther) + 1;

std::string_view name_of(WorkClass work);

// By the kernel's name alone; kOther when it tells nothing.
WorkClass class_of_kernel_name(std::string_view name);

// Linear in events once, then a lookup each: remembers the answer for each name. Not thread-safe; the trace must
// outlive it.
class WorkClassifier {
 public:
  explicit WorkClassifier(const Trace& trace);

  // `event` is device work. Collectives are known by their metadata, an optimizer's kernels by the operators and
  // annotations around their launch, everything else by the kernel's name and, where that tells nothing or a product
  // may be a convolution, by the operator's.
  WorkClass operator()(EventId event);

 private:
  const Trace& trace_;
  std::vector<std::optional<WorkClass>> by_name_;
  std::vector<char> is_in_optimizer_;  // by event
};

}  // namespace telltale
