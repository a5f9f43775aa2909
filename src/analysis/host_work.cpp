#include "analysis/host_work.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "analysis/api_calls.h"
#include "analysis/wait_names.h"

namespace telltale {
namespace {

bool contains_any(std::string_view text, std::span<const std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [text](std::string_view part) { return text.contains(part); });
}

constexpr auto kLoaderParts = std::to_array<std::string_view>({
    "enumerate(DataLoader)",
    "DataLoader.__iter__",
    "torch/utils/data/dataloader.py",
    "torchdata/",
    "webdataset/",
    "nvidia/dali/",
    "datasets/iterable_dataset.py",
});
constexpr auto kCollectorParts = std::to_array<std::string_view>({
    "<built-in function collect>",
    "Garbage Collect",
    "gc.collect",
    "Python GC",
});
// Marks of a compilation that is going on; those of running what was compiled ("Torch-Compiled Region") are none.
constexpr auto kCompilerParts = std::to_array<std::string_view>({
    "(dynamo_timed)",
    "torch/_dynamo/convert_frame.py",
    "torch/_inductor/compile_fx.py",
    "triton/compiler/compiler.py",
    "Lazy Function Loading",
    "cudaModuleLoad",
    "cuModuleLoad",
    "cuLibraryLoad",
    "hipModuleLoad",
});
// By a call's name alone, whatever it stands in.
HostWork work_of_api_call(std::string_view name) {
  const ApiCall call = api_call_named(name);
  if (is_about_memory(call)) return HostWork::kAllocator;
  switch (call) {
    case ApiCall::kWait:
    case ApiCall::kWaitingCopy:
      return HostWork::kSync;
    case ApiCall::kLoading:
      return HostWork::kCompilation;
    case ApiCall::kCopy:
      return HostWork::kCopies;
    default:
      return HostWork::kLaunching;
  }
}

// What covers everything within it; kUnknown for all other names.
HostWork covering_work(std::string_view name) {
  if (contains_any(name, kLoaderParts)) return HostWork::kDataLoading;
  if (contains_any(name, kCollectorParts)) return HostWork::kGarbageCollection;
  if (contains_any(name, kCompilerParts)) return HostWork::kCompilation;
  return HostWork::kUnknown;
}

bool covers(HostWork work) {
  return work == HostWork::kDataLoading || work == HostWork::kGarbageCollection || work == HostWork::kCompilation ||
         work == HostWork::kWaiting;
}

// What a name means, asked once for each that an event has.
struct NameWork {
  HostWork covering;     // kUnknown for most
  HostWork of_api_call;  // of an event that is one
  HostWork of_python;    // of an event that is a call
};

NameWork work_of_name(std::string_view name) {
  const bool waits = wait_of_call(name) != WaitFor::kNothing;
  return {covering_work(name), work_of_api_call(name), waits ? HostWork::kWaiting : HostWork::kPython};
}

HostWork work_of_kind(Kind kind, const NameWork& named, HostWork of_scope) {
  switch (kind) {
    case Kind::kOperator:
      return HostWork::kOperators;
    case Kind::kRuntime:
    case Kind::kDriver:
      return named.of_api_call;
    case Kind::kPython:
      return named.of_python;
    case Kind::kModule:
      return HostWork::kPython;
    case Kind::kAnnotation:
    case Kind::kOther:
      return of_scope;
    default:
      return HostWork::kUnknown;
  }
}

}  // namespace

std::string_view name_of(HostWork work) {
  constexpr std::array<std::string_view, kHostWorkCount> kNames = {
      "data_loading",       "sync",    "launching",     "python", "operators", "copies", "allocator", "compilation",
      "garbage_collection", "waiting", "communication", "scopes", "unknown",
  };
  return kNames[static_cast<std::size_t>(work)];
}

std::vector<HostWork> host_work_by_event(const Trace& trace) {
  const Events& events = trace.events;
  std::vector<std::optional<NameWork>> by_name(trace.strings.size());
  std::vector<HostWork> work(events.size(), HostWork::kUnknown);
  const HostWork of_scope = uses_framework(trace) ? HostWork::kPython : HostWork::kScopes;
  std::vector<bool> is_of_recorder(events.size());
  for (EventId event = 0; event < events.size(); ++event) {
    if (is_on_device(events.kind[event])) continue;
    const EventId parent = events.parent[event];
    is_of_recorder[event] = events.kind[event] == Kind::kOverhead || (parent != kNoEvent && is_of_recorder[parent]);
    if (is_of_recorder[event]) continue;
    if (parent != kNoEvent && covers(work[parent])) {
      work[event] = work[parent];
      continue;
    }
    std::optional<NameWork>& named = by_name[events.name[event]];
    if (!named) named = work_of_name(trace.name(event));
    work[event] =
        named->covering != HostWork::kUnknown ? named->covering : work_of_kind(events.kind[event], *named, of_scope);
  }
  return work;
}

HostWork work_of_call(Kind kind, std::string_view name) {
  if (is_on_device(kind) || kind == Kind::kOverhead) return HostWork::kUnknown;
  const NameWork named = work_of_name(name);
  return named.covering != HostWork::kUnknown ? named.covering : work_of_kind(kind, named, HostWork::kScopes);
}

bool is_compiling(std::string_view name) { return contains_any(name, kCompilerParts) && !name.contains("Load"); }

bool uses_framework(const Trace& trace) {
  return std::ranges::any_of(trace.events.kind, [](Kind kind) {
    return kind == Kind::kOperator || kind == Kind::kPython || kind == Kind::kModule;
  });
}

}  // namespace telltale
