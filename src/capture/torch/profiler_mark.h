// Tells torch that a profiler is at work on this thread, for what stands in for torch.profiler.
//
// Torch's own code asks: its quick annotations (_RecordFunctionFast, which compiled programs make) exist only then. The
// mark goes on to autograd's threads, and costs nothing where nobody asks. While it stands, torch's profiler does not
// start on this thread, as it does not start twice.
#pragma once

#include <torch/csrc/profiler/orchestration/observer.h>

#include <cstdint>
#include <memory>

namespace telltale::torch_adapter {

class ProfilerMark final : public torch::profiler::impl::ProfilerStateBase {
 public:
  explicit ProfilerMark(bool with_inputs)
      : ProfilerStateBase(
            torch::profiler::impl::ProfilerConfig(torch::profiler::impl::ProfilerState::KINETO, with_inputs)) {}

  torch::profiler::impl::ActiveProfilerType profilerType() override {
    return torch::profiler::impl::ActiveProfilerType::KINETO;
  }

  // Never called: the configuration says that memory is not reported here. See memory.h.
  void reportMemoryUsage(void*, std::int64_t, std::size_t, std::size_t, c10::Device) override {}

  // Not where a profiler of torch's is at work already.
  static void set(bool with_inputs) {
    if (get(false) == nullptr) push(std::make_shared<ProfilerMark>(with_inputs));
  }

  // Nothing on a thread that has none of ours.
  static void remove() {
    if (dynamic_cast<ProfilerMark*>(get(false)) != nullptr) pop(false);
  }
};

}  // namespace telltale::torch_adapter
