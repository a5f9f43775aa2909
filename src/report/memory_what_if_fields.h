// What the members of the answer of `telltale memory` with --fits, --batch, --settings or --without are. See
// description.h.
#pragma once

#include <optional>
#include <string_view>

#include "memory/memory_what_if.h"
#include "report/description.h"
#include "report/diagnosis_fields.h"

namespace telltale {

inline std::string_view name_of(MemoryWhatIf::Verdict verdict) {
  switch (verdict) {
    case MemoryWhatIf::Verdict::kFits:
      return "fits";
    case MemoryWhatIf::Verdict::kMayFit:
      return "may_fit";
    case MemoryWhatIf::Verdict::kFails:
      return "fails";
  }
  return "";
}

template <typename Fields>
void describe(Fields& fields, const SimulationCheck& check) {
  fields.object("SimulationCheck", "How well the simulated allocator reproduces the recording");
  fields.member("recorded_peak_reserved_bytes", check.recorded_peak_reserved, "the most that the allocator held");
  fields.member("simulated_peak_reserved_bytes", check.simulated_peak_reserved, "the same, simulated");
  fields.member("peak_miss_percent", 100 * check.peak_miss, "by how much it misses; negative: too low");
  fields.member("largest_miss_percent", 100 * check.largest_miss,
                "the most by which the curve of what is reserved misses, of the recorded peak");
  fields.member("holds", check.holds(), "whether the peak is met to 2 %");
  fields.member("skipped_entries", check.skipped, "of the log, that contradict what came before them");
  fields.member("unknown_settings", check.unknown_settings, "under which the program ran and which are not simulated");
}

template <typename Fields>
void describe(Fields& fields, const WhatIfFailure& failure) {
  fields.object("MemoryFailure", "The first request for which there would be no memory");
  fields.member("source", failure.source, "the line of the program; null where it is not known");
  fields.member("operator", or_null(failure.made_by), "that asks");
  fields.member("requested_bytes", failure.requested, "how much it asks for");
  fields.member("allocated_bytes", failure.allocated, "what tensors take then");
  fields.member("reserved_bytes", failure.reserved, "what the allocator holds then");
  fields.member("time_ns", failure.time, "null: what was there before the recording does not fit");
  fields.member("was_survived", failure.was_survived,
                "whether there was none in the recording either, and the program went on");
}

template <typename Fields>
void describe(Fields& fields, const WhatIfMemory& memory) {
  fields.object("SimulatedMemory", "A run of the program's requests through the simulated allocator");
  fields.member("peak_allocated_bytes", memory.peak_allocated, "the most that tensors take; simulated, until it fails");
  fields.member("peak_reserved_bytes", memory.peak_reserved,
                "the most that the allocator holds; simulated, until it fails; null where it was not recorded");
  fields.member("retries", memory.retries, "how often the allocator has to empty its cache, which takes time");
  fields.member("failure", memory.failure, "null: everything fits");
}

template <typename Fields>
void describe(Fields& fields, const WithoutFinding& finding) {
  fields.object("FixedFinding", "A finding whose fix is taken as made");
  fields.member("rule", finding.rule, "its id");
  fields.member("title", finding.title, "what was found");
  fields.member("fix_id", finding.fix_id, "what was done about it");
}

template <typename Fields>
void describe(Fields& fields, const MemoryWhatIf& answer) {
  fields.answer("telltale.memory_whatif/1", "MemoryWhatIf",
                "What memory would be with another device, batch or settings of the allocator, or with fixes made");
  fields.member("path", answer.path, "the file as it was named; `-` is standard input");
  fields.member("device", answer.device, "its id");
  fields.member("verdict", answer.verdict(), "`fits`, `may_fit` (at the low end of the range) or `fails`");
  fields.member("capacity_bytes", answer.capacity, "of the device that was asked about; null: no limit");
  fields.member("outside_bytes", answer.outside_bytes, "of it, what PyTorch could not have when it was out of memory");
  fields.member("batch_factor", answer.batch_factor, "how many times the recorded batch");
  fields.member("without", answer.without, "the findings that are taken as fixed");
  fields.member("is_simulated", answer.is_simulated,
                "whether the allocator is simulated; without its log, allocations are added up, and what is reserved "
                "is a range: from what tensors take to as much beyond that as was recorded");
  fields.member("settings", answer.settings, "as in PYTORCH_CUDA_ALLOC_CONF; empty: PyTorch's own");
  fields.member("before", answer.before, "as recorded; simulated, without a limit");
  fields.member(
      "low", answer.low,
      "with the changes, the least of each amount: where as little grows with the batch, or is reserved, as may be");
  fields.member(
      "high", answer.high,
      "with the changes, the most of each amount: where as much grows with the batch, or is reserved, as may be");
  fields.member("largest_batch_factor", answer.largest_batch,
                "of the recorded batch, that surely fits; 64: larger ones are not tried");
  fields.member("largest_batch_factor_at_best", answer.largest_batch_at_best, "that fits at the low end of the range");
  fields.member("is_from_two_recordings", answer.is_from_two_recordings,
                "whether what grows with the batch was seen in two recordings");
  fields.member("check", answer.check, "how far to trust the simulation, where there is one");
  fields.member("remarks", answer.remarks, "sentences");
}

}  // namespace telltale
