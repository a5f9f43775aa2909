// What the host does in each of its events: the words in which a device's idle time is explained.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace telltale {

enum class HostWork : std::uint8_t {
  kDataLoading,        // fetching the next batch, or waiting for it
  kSync,               // waiting for the device: cudaStreamSynchronize, a blocking copy, an .item()
  kLaunching,          // calls into the device's API that enqueue work
  kPython,             // Python between operators
  kOperators,          // dispatch and CPU side of operators
  kCopies,             // calls that enqueue or make copies
  kAllocator,          // cudaMalloc, cudaFree and their like
  kCompilation,        // torch.compile, Triton and lazy loading of kernels
  kGarbageCollection,  // Python's collector
  kWaiting,            // waiting for anything but the device and the loader: a sleep, a lock, a socket (wait_names.h)
  kCommunication,      // waiting for collectives that the host itself runs (host_collectives.h)
  kScopes,             // what a program without framework and Python names itself
  kUnknown,            // no event covers it
};
inline constexpr int kHostWorkCount = static_cast<int>(HostWork::kUnknown) + 1;

// "data_loading", "sync", …
std::string_view name_of(HostWork work);

// The work of every event's own time, by event; kUnknown for events that are not on a host thread. Data loading,
// compilation, garbage collection and waits cover everything that is called within them. What a recorder does for
// itself (overhead) is no work of the program, and stays kUnknown with all within. No event is communication as a
// whole: where a thread waits for a collective, it is a part of an event's time, which the breakdown tells apart.
//
// Pure and thread-safe; linear in events and distinct names.
std::vector<HostWork> host_work_by_event(const Trace& trace);

// The work of a call by its own name, whatever it stands in; kUnknown where that is not on a host thread. Of
// annotations, what a program without a framework does: kScopes.
HostWork work_of_call(Kind kind, std::string_view name);

// What a compiler does: torch.compile's or Triton's. Loading what was compiled is none of it.
bool is_compiling(std::string_view name);

// Whether a framework or Python tells what it does, by operators, modules or Python calls. In a trace without them,
// what the host does has no names but those that its program gives to its scopes. Linear in events, but a trace of a
// framework tells at once.
bool uses_framework(const Trace& trace);

}  // namespace telltale
