// What a program asked of PyTorch's caching allocator, taken out of its log: blocks of so many bytes and their frees,
// and calls that empty the cache, where they found something to give back: others leave no entry. Where the blocks lay
// is left out, so that the requests can be served anew.
//
// Pure and thread-safe; O(n log n) in the entries of the log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "memory/allocator_walk.h"
#include "trace/trace.h"

namespace telltale {

struct AllocatorRequest {
  enum class Kind : std::uint8_t {
    kAllocate,
    kFailedAllocate,  // there was no memory for it, and the program never had the block
    kFree,
    kRequestFree,  // other streams use the block until kCompleteFree
    kCompleteFree,
    kEmptyCache,   // by the program
    kMadeRoom,     // by the allocator, since the device was full
    kReleasePool,  // nobody needs that private pool any more
  };
  Kind kind = Kind::kAllocate;
  std::uint32_t block = 0;  // the number of what is allocated or freed
  std::int64_t bytes = 0;
  std::uint64_t stream = 0;
  StringId pool = kEmptyString;
  std::size_t entry = 0;  // row of Trace::allocator_events
};

struct AllocatorRequests {
  explicit AllocatorRequests(const Trace& trace, DeviceId on) : device(on), start(trace, on) {}

  DeviceId device = 0;
  AllocatorWalk start;                      // what was there before
  std::vector<std::uint64_t> start_blocks;  // addresses of its live blocks: they have the first numbers
  std::vector<AllocatorRequest> list;       // in the order of the log
  std::size_t blocks = 0;                   // how many numbers there are
  std::size_t skipped = 0;                  // entries that contradict the log before them
};

AllocatorRequests allocator_requests(const Trace& trace, DeviceId device);

}  // namespace telltale
