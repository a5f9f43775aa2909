// Tells torch that a profiler is at work on this thread, for what stands in for torch.profiler.
//
// Torch's own code asks: its quick annotations (_RecordFunctionFast, which compiled programs make) exist only then. The
// mark goes on to autograd's threads, and costs nothing where nobody asks. While it stands, torch's profiler does not
// start on this thread, as it does not start twice.
//
// It stands on a class of torch's that is nobody's interface: where that has changed, the adapter is compiled without
// (TELLTALE_WITHOUT_PROFILER_MARK), and quick annotations are missing.
#pragma once

#ifdef TELLTALE_WITHOUT_PROFILER_MARK

namespace telltale::torch_adapter {

struct ProfilerMark {
  static void set(bool) {}
  static void remove() {}
};

}  // namespace telltale::torch_adapter

#else

#include <c10/util/ThreadLocalDebugInfo.h>
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
    if (current() == nullptr)
      c10::ThreadLocalDebugInfo::_push(c10::DebugInfoKind::PROFILER_STATE, std::make_shared<ProfilerMark>(with_inputs));
  }

  // Nothing on a thread that has none of ours, or has put something else over it.
  static void remove() {
    if (dynamic_cast<ProfilerMark*>(current()) == nullptr) return;
    try {
      c10::ThreadLocalDebugInfo::_pop(c10::DebugInfoKind::PROFILER_STATE);
    } catch (const c10::Error&) {
    }
  }

 private:
  static c10::DebugInfoBase* current() { return c10::ThreadLocalDebugInfo::get(c10::DebugInfoKind::PROFILER_STATE); }
};

}  // namespace telltale::torch_adapter

#endif
