#include "memory/simulator/allocator_requests.h"

#include <algorithm>
#include <unordered_map>

namespace telltale {
namespace {

using Asked = AllocatorRequest::Kind;

bool gives_back(AllocatorAction action) {
  return action == AllocatorAction::kSegmentFree || action == AllocatorAction::kSegmentUnmap;
}

bool takes(AllocatorAction action) {
  return action == AllocatorAction::kSegmentAllocate || action == AllocatorAction::kSegmentMap ||
         action == AllocatorAction::kOutOfMemory;
}

class Reading {
 public:
  Reading(const Trace& trace, DeviceId device) : trace_(trace), requests_(trace, device) {
    for (std::size_t i = 0; i < trace.allocator_events.size(); ++i)
      if (trace.allocator_events[i].device == device) rows_.push_back(i);
    for (const Device& each : trace.devices)
      if (each.id == device) device_bytes_ = each.memory_bytes.value_or(0);
  }

  AllocatorRequests read() && {
    for (const auto& [address, block] : requests_.start.blocks()) {
      if (!block.is_live()) continue;
      open_[address] = next_block();
      requests_.start_blocks.push_back(address);
    }
    AllocatorWalk walk = requests_.start;
    for (at_ = 0; at_ < rows_.size(); ++at_) {
      const std::int64_t reserved = walk.totals().reserved;
      walk.apply_next();
      if (walk.was_skipped())
        ++requests_.skipped;
      else
        take(event(at_), walk, reserved);
    }
    return std::move(requests_);
  }

 private:
  const AllocatorEvent& event(std::size_t at) const { return trace_.allocator_events[rows_[at]]; }
  std::uint32_t next_block() { return static_cast<std::uint32_t>(requests_.blocks++); }

  void add(AllocatorRequest request) {
    request.entry = rows_[at_];
    requests_.list.push_back(request);
  }

  void take(const AllocatorEvent& each, const AllocatorWalk& walk, std::int64_t reserved_before) {
    switch (each.action) {
      case AllocatorAction::kAllocate: {
        // Entries do not always name their private pool; the segment that they lie in does.
        const std::uint32_t block = next_block();
        open_[each.address] = block;
        add({.kind = Asked::kAllocate,
             .block = block,
             .bytes = each.bytes,
             .stream = each.stream,
             .pool = walk.segment_at(each.address)->pool});
        break;
      }
      case AllocatorAction::kOutOfMemory:
        if (each.bytes > 0)
          add({.kind = Asked::kFailedAllocate, .block = next_block(), .bytes = each.bytes, .stream = each.stream});
        break;
      case AllocatorAction::kFreeRequested: {
        const bool is_done = at_ + 1 < rows_.size() && event(at_ + 1).address == each.address &&
                             event(at_ + 1).action == AllocatorAction::kFreeCompleted;
        if (!is_done) add({.kind = Asked::kRequestFree, .block = open_.at(each.address)});
        break;
      }
      case AllocatorAction::kFreeCompleted: {
        const auto open = open_.extract(each.address);
        if (open.empty()) break;
        const bool waited = at_ == 0 || event(at_ - 1).address != each.address ||
                            event(at_ - 1).action != AllocatorAction::kFreeRequested;
        add({.kind = waited ? Asked::kCompleteFree : Asked::kFree, .block = open.mapped()});
        break;
      }
      case AllocatorAction::kSegmentFree:
      case AllocatorAction::kSegmentUnmap:
        give_back(each, reserved_before);
        break;
      default:
        break;
    }
  }

  // Segments are given back in a row: by empty_cache(), or by the allocator itself to make room for a request.
  void give_back(const AllocatorEvent& each, std::int64_t reserved_before) {
    if (each.pool != kEmptyString) add({.kind = Asked::kReleasePool, .pool = each.pool});
    const bool goes_on = at_ > 0 && gives_back(event(at_ - 1).action);
    if (!goes_on) is_by_program_ = is_by_program(each, reserved_before);
    if (!goes_on || each.pool != kEmptyString) add({.kind = is_by_program_ ? Asked::kEmptyCache : Asked::kMadeRoom});
  }

  bool is_by_program(const AllocatorEvent& first, std::int64_t reserved) const {
    const std::string_view stack = trace_.strings[first.call_stack];
    if (!stack.empty()) return stack.contains("empty_cache") || stack.contains("emptyCache");
    std::size_t after = at_;
    while (after < rows_.size() && gives_back(event(after).action)) ++after;
    if (after == rows_.size() || !takes(event(after).action)) return true;
    if (event(after).action == AllocatorAction::kOutOfMemory) return false;
    if (requests_.start.settings().garbage_collection_threshold > 0) return false;
    // Without a stack: the allocator makes room only where the device has none left for what comes next.
    return device_bytes_ > 0 && reserved + event(after).bytes <= device_bytes_ / 2;
  }

  const Trace& trace_;
  AllocatorRequests requests_;
  std::vector<std::size_t> rows_;
  std::unordered_map<std::uint64_t, std::uint32_t> open_;  // the number of the live block at an address
  std::size_t at_ = 0;
  std::int64_t device_bytes_ = 0;
  bool is_by_program_ = false;
};

}  // namespace

AllocatorRequests allocator_requests(const Trace& trace, DeviceId device) { return Reading(trace, device).read(); }

}  // namespace telltale
