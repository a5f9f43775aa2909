// What the members of the answer of `telltale memory` are: telltale.memory/1. See description.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "advise/memory_report.h"
#include "report/description.h"
#include "report/diagnosis_fields.h"

namespace telltale {

template <typename Fields>
void describe(Fields& fields, const UseBytes& row) {
  fields.object("MemoryCategory", "What stands in memory for one purpose");
  fields.member(
      "name", row.use,
      "`parameters`, `gradients`, `optimizer_state`, `activations` (kept for backward), `temporaries`, "
      "`inputs`, `communication`, `workspace`, `kv_cache`, `cuda_graphs` (their pools), `outside_pytorch`, "
      "`before` (made before the recording, and nothing tells what it is), `left_behind` (by a leak, in earlier "
      "steps) or `other`");
  fields.member("bytes", row.bytes, "how much");
  fields.member("noted_bytes", row.noted_bytes,
                "of which the program itself said what they are; the rest follows from when and where it was made and "
                "freed");
  fields.member("blocks", row.blocks, "how many pieces");
}

template <typename Fields>
void describe(Fields& fields, const LineBytes& row) {
  fields.object("MemoryLine", "What one line made");
  fields.member("source", row.source, "the line; null where it is not known");
  fields.member("bytes", row.bytes, "how much of it is there");
  fields.member("blocks", row.blocks, "how many pieces");
  fields.member("category", row.use, "of most of it");
}

template <typename Fields>
void describe(Fields& fields, const NamedBytes& row) {
  fields.object("MemoryPlace", "What one module or operator made");
  fields.member("name", row.name, "its name; empty: outside of any");
  fields.member("bytes", row.bytes, "how much of it is there");
  fields.member("blocks", row.blocks, "how many pieces");
}

template <typename Fields>
void describe(Fields& fields, const SizeBytes& row) {
  fields.object("MemorySize", "Pieces of one size");
  fields.member("size", row.size, "of each, in bytes");
  fields.member("bytes", row.bytes, "of all");
  fields.member("blocks", row.blocks, "how many");
}

template <typename Fields>
void describe(Fields& fields, const PeakTensor& tensor) {
  fields.object("MemoryTensor", "One of the largest pieces");
  fields.member("bytes", tensor.bytes, "how large");
  fields.member("category", tensor.use, "what it is for");
  fields.member("is_noted", tensor.is_noted, "whether the program itself said so");
  fields.member("name", or_null(tensor.name), "as the program calls it");
  fields.member("operator", or_null(tensor.made_by), "that made it");
  fields.member("module", or_null(tensor.module), "around that");
  fields.member("source", tensor.source, "the line that made it");
  fields.member("made_ns", tensor.made, "when; null: before the recording");
  fields.member("freed_ns", tensor.freed, "when; null: not within it");
  fields.member("freed_by", or_null(tensor.freed_by), "the operator during which it was freed, which used it last");
  fields.member("kept_by", tensor.kept_by,
                "what keeps it alive at the end, as in `leaks`; null: it is gone by then, a module or an optimizer has "
                "it, or nobody looked, see `--referrers`");
}

template <typename Fields>
void describe(Fields& fields, const StepMemory& step) {
  fields.object("MemoryStep", "A step's memory");
  fields.member("index", step.index, "its number");
  fields.member("peak_bytes", step.peak, "the most allocated");
  fields.member("minimum_bytes", step.minimum, "the least allocated");
  fields.member("differs", step.differs, "whether its peak is a tenth or more off the median");
}

template <typename Fields>
void describe(Fields& fields, const UsesAt& point) {
  std::vector<std::pair<std::string, std::int64_t>> bytes;
  for (std::size_t use = 0; use < kMemoryUseCount; ++use)
    if (point.bytes[use] != 0) bytes.emplace_back(name_of(static_cast<MemoryUse>(use)), point.bytes[use]);
  fields.object("MemoryCategoriesAt", "What memory is used for at a time");
  fields.member("time_ns", point.time, "when");
  fields.member("bytes", bytes, "by category, those that have any");
}

template <typename Fields>
void describe(Fields& fields, const PinningLine& line) {
  fields.object("PinningLine", "Blocks that one line made and that lie beside free memory");
  fields.member("source", line.source, "the line; null where it is not known");
  fields.member("pinned_bytes", line.pinned_bytes,
                "free ones that cannot be given back because of them; between two blocks, half for each");
  fields.member("bytes", line.bytes, "their own");
  fields.member("blocks", line.blocks, "how many");
}

template <typename Fields>
void describe(Fields& fields, const PinningBlock& block) {
  fields.object("PinningBlock", "A block beside free memory");
  fields.member("source", block.source, "the line that made it; null where it is not known");
  fields.member("pinned_bytes", block.pinned_bytes, "as in `PinningLine`");
  fields.member("bytes", block.bytes, "its own");
  fields.member("address", block.address, "where it is");
}

template <typename Fields>
void describe(Fields& fields, const Fragmentation& fragmentation) {
  fields.object("MemoryFragmentation", "What PyTorch's allocator holds and no tensor uses, when it holds most");
  fields.member("time_ns", fragmentation.time, "when that is");
  fields.member("hard_bytes", fragmentation.hard_bytes, "free beside live blocks, which pin it");
  fields.member("soft_bytes", fragmentation.soft_bytes, "free in whole segments, none of them large enough alone");
  fields.member("stream_bytes", fragmentation.stream_bytes, "free in segments of other streams and private pools");
  fields.member("rounding_bytes", fragmentation.rounding_bytes, "what blocks have beyond what was asked for");
  fields.member("pinned_by_lines", fragmentation.lines, "what pins `hard_bytes`, up to 50 by falling bytes pinned");
  fields.member("pinned_by_blocks", fragmentation.pinning, "likewise, up to 10");
}

template <typename Fields>
void describe(Fields& fields, const DeviceCauses& device) {
  const MemoryPeak& peak = device.peak;
  std::vector<std::array<std::int64_t, 3>> curve;
  for (const MemoryPoint& point : device.timeline.levels)
    curve.push_back({point.time, point.allocated, point.reserved});
  fields.object("DeviceMemoryUse", "A device's memory, and what fills it when most of it is allocated");
  fields.member("device", peak.device, "its id; -1: the host");
  fields.member("has_history", device.has_history,
                "whether memory over time was recorded; else the peak is what stood there when a snapshot was taken");
  fields.member("capacity_bytes", peak.capacity, "how much memory it has; null where the trace does not say");
  fields.member("peak_allocated_bytes", peak.allocated, "the most that tensors took");
  fields.member("peak_reserved_bytes", peak.reserved, "the most that the allocator held; 0: not recorded");
  fields.member("reserved_at_peak_bytes", peak.reserved_at_peak, "what it held when tensors took most");
  fields.member("device_used_bytes", peak.device_used,
                "what was in use then by the device's own count, of other processes as well");
  fields.member("peak_time_ns", peak.time, "when that was");
  fields.member("peak_operator", or_null(peak.at_operator), "what was allocated for then");
  fields.member("peak_module", or_null(peak.at_module), "around that");
  fields.member("peak_source", peak.source, "the line of that");
  fields.member("categories", peak.uses,
                "at the peak, by falling bytes; all but `outside_pytorch` add up to `peak_allocated_bytes`");
  fields.member("lines", peak.lines, "at the peak, up to 50 by falling bytes");
  fields.member("modules", peak.modules, "likewise");
  fields.member("operators", peak.operators, "likewise");
  fields.member("sizes", peak.sizes, "likewise");
  fields.member("tensors", peak.tensors, "the ten largest at the peak");
  fields.member("fragmentation", device.fragmentation, "null where the allocator's log was not recorded");
  fields.member("steps", device.timeline.steps, "by start; empty where no steps were found");
  fields.member("peaks_rise", device.timeline.peaks_rise, "whether nearly each step peaks above the one before it");
  fields.member("curve", curve,
                "`[time_ns, allocated_bytes, reserved_bytes]` at up to a few hundred times, peaks kept");
  fields.member("requested_over_time", device.timeline.requested,
                "at the times of `curve`, how many bytes the program asked for of those that it holds; what is "
                "allocated beyond that is rounding. Empty where the allocator's log was not recorded");
  fields.member(
      "device_used_over_time", device.timeline.device_used,
      "at the times of `curve`, the bytes in use by the device's own count, of other processes as well. Empty "
      "where that was not recorded");
  fields.member("categories_over_time", device.timeline.uses, "at the times of `curve`");
}

template <typename Fields>
void describe(Fields& fields, const GrowingResident& process) {
  fields.object("GrowingProcess", "A process whose resident size grows");
  fields.member("child", or_null(process.child), "`process 1234`; null: the recorded process itself");
  fields.member("is_loader_worker", process.is_loader_worker, "whether that is a worker of a data loader");
}

template <typename Fields>
void describe(Fields& fields, const MemoryLeak& leak) {
  fields.object("MemoryLeak", "What grows from step to step");
  fields.member("source", leak.source, "the line that makes it; null where it is not known");
  fields.member("bytes_per_step", leak.bytes_per_step, "how fast");
  fields.member("bytes", leak.bytes, "how much it has come to");
  fields.member("device", leak.device, "whose memory; -1: the host");
  fields.member("category", leak.use, "what it is, as in `categories`");
  fields.member("operator", or_null(leak.made_by), "that makes most of it");
  fields.member("process", leak.process, "the process whose size grows; null: it is tensors");
  fields.member(
      "kept_by", leak.kept_by,
      "what keeps one of its tensors alive, from the tensor to a variable, a few words each; empty: not found; "
      "null: nobody looked, see `--referrers`");
  fields.member("steps_to_full", leak.steps_to_full, "until memory is full at this rate, where its size is known");
}

template <typename Fields>
void describe(Fields& fields, const MemoryReport& report) {
  fields.answer("telltale.memory/1", "MemoryReport", "What holds the memory, what grows, and what would free some");
  fields.member("path", report.path, "the file as it was named; `-` is standard input");
  fields.member("devices", report.causes.devices, "those with memory events, by id; the host comes last");
  fields.member("leaks", report.causes.leaks, "by falling bytes per step");
  fields.member("findings", report.findings,
                "what would free memory, `saving_bytes` of it, for the least time first; leaks and others without a "
                "number come behind");
  fields.member("remarks", report.remarks, "what a reader should know before trusting the rest, as sentences");
}

}  // namespace telltale
