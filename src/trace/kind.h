// What an event is: the vocabulary that all of Telltale speaks, whatever tool wrote the trace.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace telltale {

enum class Kind : std::uint8_t {
  kOperator,          // a framework operator: aten::mm, autograd nodes, record_param_comms
  kAnnotation,        // a range the user or the framework named: record_function, ProfilerStep#3
  kPython,            // a Python call
  kModule,            // a call of an nn.Module
  kRuntime,           // a call of the device's runtime API: cudaLaunchKernel
  kDriver,            // a call of the device's driver API: cuLaunchKernelEx
  kKernel,            // a kernel on a device
  kMemcpy,            // a copy on a device
  kMemset,            // a fill on a device
  kSync,              // a synchronization, as the device's tracer reports it
  kCollective,        // a collective that a communication library reports by itself
  kDeviceAnnotation,  // an annotation projected on the device: covers device work, is none itself
  kDeviceOther,       // device work of a category we do not know
  kOverhead,          // time the profiler says it took itself
  kSpan,              // a span about the whole recording, such as Kineto's "PyTorch Profiler (0)"
  kInstant,           // a mark without duration
  kAsync,             // a span that belongs to no thread (Chrome's b/e pairs)
  kOther,             // host work of a category we do not know
};
inline constexpr int kKindCount = static_cast<int>(Kind::kOther) + 1;
inline constexpr std::array kKinds = [] {
  std::array<Kind, kKindCount> kinds{};
  for (int i = 0; i < kKindCount; ++i) kinds[static_cast<std::size_t>(i)] = static_cast<Kind>(i);
  return kinds;
}();

// "operator", "annotation", …: the word that JSON output and the command line use.
std::string_view name_of(Kind kind);
std::optional<Kind> kind_named(std::string_view name);

// Work that occupies a device: kernels, copies, fills, collectives and unknown device categories.
bool is_device_work(Kind kind);
// Everything that stands on a device's track, projections and synchronizations included.
bool is_on_device(Kind kind);
// A call into the device's API, the only kind of event that launches device work.
bool is_api_call(Kind kind);

}  // namespace telltale
