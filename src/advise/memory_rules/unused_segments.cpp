// Segments of the allocator that stay unused because of who made what is in them, which no setting changes: those of
// other streams, and those that blocks which stay hold on to.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "advise/memory_rule.h"
#include "base/amounts.h"
#include "memory/fragmentation.h"
#include "memory/memory_peak.h"
#include "memory/stack_words.h"

namespace telltale {
namespace {

constexpr double kLeastShareOfReserved = 0.05;

std::int64_t peak_reserved(const Trace& trace, const AllocatorRequests& requests, const MemoryEdit& edit = {}) {
  SimulationOptions options{.settings = requests.start.settings()};
  options.makes_room_as_recorded = true;  // where the device was full, the cache cost nothing
  const SimulatedEdit simulated = simulated_edit(trace, requests, edit);
  options.early = simulated.early;
  options.stream = edit.stream;
  return simulate(requests, options).peak.reserved;
}

// All on the stream that asks when most is reserved.
MemoryEdit on_one_stream(const Trace& trace, const DeviceCauses& device) {
  MemoryEdit edit;
  edit.stream = trace.allocator_events[device.fragmentation->entry].stream;
  return edit;
}

// The line for which most was reserved on other streams.
std::optional<SourceLine> line_on_other_streams(const Trace& trace, DeviceId device, std::uint64_t stream) {
  std::map<std::tuple<std::string, int, std::string>, std::int64_t> bytes;
  for (const AllocatorEvent& event : trace.allocator_events) {
    const bool reserves =
        event.action == AllocatorAction::kSegmentAllocate || event.action == AllocatorAction::kSegmentMap;
    if (event.device != device || event.stream == stream || !reserves) continue;
    if (auto line = line_of_stack(trace.strings[event.call_stack]))
      bytes[{std::move(line->file), line->line, std::move(line->function)}] += event.bytes;
  }
  const auto most = std::ranges::max_element(bytes, {}, [](const auto& each) { return each.second; });
  if (most == bytes.end()) return {};
  const auto& [file, line, function] = most->first;
  return SourceLine{file, line, function};
}

// The blocks that stand beside free memory when most is reserved, and others of their lines that do then: made before
// all else, they lie together.
MemoryEdit made_first(const Trace& trace, const DeviceCauses& device, std::span<const UsedBlock> blocks) {
  const Fragmentation& lost = *device.fragmentation;
  std::unordered_map<StringId, bool> pins;  // by stack
  const auto is_pinning = [&](StringId stack) {
    const auto [known, is_new] = pins.try_emplace(stack);
    if (is_new) {
      const std::optional<SourceLine> source = line_of_stack(trace.strings[stack]);
      known->second = std::ranges::find(lost.lines, source, &PinningLine::source) != lost.lines.end();
    }
    return known->second;
  };
  MemoryEdit edit;
  if (blocks.empty()) return edit;
  const auto is_made = [](const UsedBlock& block) { return block.allocated != UsedBlock::kBeforeTheTrace; };
  const auto first = std::ranges::find_if(blocks, is_made);
  for (const UsedBlock& block : blocks) {
    if (!is_made(block) || !block.lives_at(lost.time) || !is_pinning(block.call_stack)) continue;
    edit.make_earlier(block, first->allocated);
  }
  return edit;
}

Finding finding_about(std::int64_t saving) {
  Finding finding;
  finding.saving_bytes = saving;
  finding.cost = 0;
  finding.confidence = Confidence::kMedium;
  return finding;
}

Finding other_streams(const Facts& facts, const DeviceCauses& device, std::int64_t now, std::int64_t left) {
  const Fragmentation& lost = *device.fragmentation;
  Finding finding = finding_about(now - left);
  finding.source =
      line_on_other_streams(facts.trace, device.peak.device, facts.trace.allocator_events[lost.entry].stream);
  finding.title = fmt::format("{} lie unused in segments of other streams", format_bytes(lost.stream_bytes));
  finding.explanation = fmt::format(
      "PyTorch's allocator gives what is freed only to the stream that it was made on. Simulated with all requests on "
      "one stream, the program reserves {} at most, and not {}.",
      format_bytes(left), format_bytes(now));
  finding.fix = {"one_stream",
                 "Make the buffers on the stream that allocates the rest, and tell the allocator with record_stream() "
                 "who else uses them. Then what is freed can be used again.",
                 "- with torch.cuda.stream(side):\n-     buffer = torch.empty(n, device=\"cuda\")\n"
                 "+ buffer = torch.empty(n, device=\"cuda\")\n+ buffer.record_stream(side)\n"
                 "+ with torch.cuda.stream(side):"};
  return finding;
}

Finding blocks_between(const DeviceCauses& device, std::int64_t now, std::int64_t left) {
  const Fragmentation& lost = *device.fragmentation;
  const PinningLine& line = lost.lines.front();
  Finding finding = finding_about(now - left);
  finding.source = line.source;
  finding.title = fmt::format("Blocks that stay keep {} of free memory in pieces", format_bytes(lost.hard_bytes));
  finding.explanation = fmt::format(
      "{} of this line stand beside {} of it when most is reserved: they were made between others, which are freed by "
      "then. Simulated with what stands there made before all else, the program reserves {} at most, and not {}.",
      counted(static_cast<double>(line.blocks), "block"), format_bytes(line.pinned_bytes), format_bytes(left),
      format_bytes(now));
  finding.fix = {"allocate_first",
                 "Make what stays before what comes and goes: all of it at the start, or parts of one large tensor.",
                 "+ kept = torch.empty(steps, n, device=\"cuda\")\n  for i in range(steps):\n"
                 "-     kept.append(result(i))\n+     kept[i] = result(i)"};
  return finding;
}

std::vector<Finding> find(const Facts& facts, const DeviceCauses& device, std::span<const UsedBlock> blocks) {
  if (!device.fragmentation || device.fragmentation->entry == kNoAllocatorEntry) return {};
  const Fragmentation& lost = *device.fragmentation;
  const auto is_much = [&](std::int64_t bytes) {
    return bytes > 0 && static_cast<double>(bytes) >= kLeastShareOfReserved * static_cast<double>(lost.totals.reserved);
  };
  if (!is_much(lost.stream_bytes) && !is_much(lost.hard_bytes)) return {};
  const AllocatorRequests requests = allocator_requests(facts.trace, device.peak.device);
  if (!check_simulation(facts.trace, requests).holds()) return {};
  const std::int64_t now = peak_reserved(facts.trace, requests);
  std::vector<Finding> findings;
  if (is_much(lost.stream_bytes)) {
    const std::int64_t left = peak_reserved(facts.trace, requests, on_one_stream(facts.trace, device));
    if (is_much(now - left)) findings.push_back(other_streams(facts, device, now, left));
  }
  if (is_much(lost.hard_bytes)) {
    const std::int64_t left = peak_reserved(facts.trace, requests, made_first(facts.trace, device, blocks));
    if (is_much(now - left)) findings.push_back(blocks_between(device, now, left));
  }
  return findings;
}

MemoryEdit edit(const Facts& facts, const DeviceCauses& device, const Finding& finding,
                std::span<const UsedBlock> blocks) {
  return finding.fix.id == "allocate_first" ? made_first(facts.trace, device, blocks)
                                            : on_one_stream(facts.trace, device);
}

}  // namespace

MemoryRule memory_rules::unused_segments() {
  return {
      {.title = "Segments that who made what keeps unused",
       .looks_for = fmt::format("When most is reserved, {:.0f} % of it or more in free segments of other streams, or "
                                "free beside live blocks, where another order of the same requests would save as "
                                "much. Silent where the simulated allocator misses the recorded peak by more than "
                                "{:.0f} %.",
                                100 * kLeastShareOfReserved, 100 * SimulationCheck::kMostMiss),
       .needs = "The allocator's log: a memory snapshot with history, or record --memory on a GPU; stacks for the "
                "line.",
       .saving = "Bytes: the peak of what is reserved, simulated as recorded, less that with all requests on one "
                 "stream, or with the blocks beside the free memory made before all else.",
       .held = "Predicted and measured, in MiB: 516 and 516, with buffers on streams of their own, on an H200.",
       .fixes = {"one_stream", "allocate_first"}},
      find,
      edit};
}

}  // namespace telltale
