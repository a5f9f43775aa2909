#include "analysis/testing/random_calls.h"

#include <algorithm>
#include <array>

namespace telltale {
namespace {

struct Call {
  Kind kind;
  std::string_view name;
};

constexpr std::array kCalls = {
    Call{Kind::kPython, "train.py(3): step"},
    Call{Kind::kModule, "nn.Module: Linear_0"},
    Call{Kind::kOperator, "aten::mm"},
    Call{Kind::kOperator, "aten::add"},
    Call{Kind::kRuntime, "cudaLaunchKernel"},
    Call{Kind::kRuntime, "cudaMemcpyAsync"},
    Call{Kind::kRuntime, "cudaMalloc"},
    Call{Kind::kRuntime, "cudaStreamSynchronize"},
    Call{Kind::kPython, "<built-in function collect>"},
    Call{Kind::kAnnotation, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"},
    Call{Kind::kOverhead, "Activity Buffer Request"},
};

int pick(int low, int high, std::mt19937& random) { return std::uniform_int_distribution<int>(low, high)(random); }

}  // namespace

std::vector<TraceSketch::Handle> add_random_calls(TraceSketch& sketch, TrackId thread, int count, Nanoseconds horizon,
                                                  std::mt19937& random) {
  std::vector<Interval> drawn;
  std::vector<TraceSketch::Handle> handles;
  for (int i = 0; i < count; ++i) {
    // Mostly within an event that is there already, so that calls nest.
    Interval room{0, horizon};
    if (!drawn.empty() && pick(0, 9, random) < 7) room = drawn[static_cast<std::size_t>(pick(0, i - 1, random))];
    const auto length = static_cast<int>(room.length());
    const Nanoseconds begin = room.begin + pick(0, length, random);
    const bool may_overlap = pick(0, 9, random) == 0;
    const Nanoseconds last = may_overlap ? horizon : room.end;
    const Nanoseconds end = begin + pick(0, static_cast<int>(last - begin), random);
    const Call& call = kCalls[static_cast<std::size_t>(pick(0, kCalls.size() - 1, random))];
    drawn.push_back({begin, end});
    handles.push_back(sketch.event(thread, call.kind, call.name, begin, end));
  }
  return handles;
}

Interval random_window(Nanoseconds horizon, std::mt19937& random) {
  const Nanoseconds a = pick(0, static_cast<int>(horizon), random), b = pick(0, static_cast<int>(horizon), random);
  return {std::min(a, b), std::max(a, b)};
}

}  // namespace telltale
