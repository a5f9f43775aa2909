#include "answers/out_of_memory.h"

#include <cctype>
#include <optional>
#include <utility>

#include "advise/memory_report.h"
#include "analysis/host_work.h"
#include "analysis/phases.h"
#include "memory/memory_what_if.h"
#include "report/out_of_memory_words.h"

namespace telltale::answers {
namespace {

// What PyTorch could have had when the last request failed: what it held, and what the device had free. Nothing where
// no request did.
std::optional<std::int64_t> room_at_failure(const Trace& trace, DeviceId device) {
  AllocatorWalk walk(trace, device);
  std::optional<std::int64_t> room;
  while (walk.apply_next()) {
    const AllocatorEvent& event = trace.allocator_events[walk.entry()];
    if (event.action == AllocatorAction::kOutOfMemory)
      room = walk.totals().reserved + static_cast<std::int64_t>(event.address);
  }
  return room;
}

// Where a request failed though the device had room for it, PyTorch was not allowed to take more: it was less than what
// all held and asked for. `capacity` is the device's.
std::optional<std::int64_t> limit_at_failure(const Trace& trace, DeviceId device, std::int64_t capacity) {
  std::optional<std::int64_t> limit;
  for (const AllocatorEvent& event : trace.allocator_events) {
    if (event.device != device || event.action != AllocatorAction::kOutOfMemory) continue;
    const auto free = static_cast<std::int64_t>(event.address);
    limit.reset();
    if (free >= event.bytes) limit = capacity - free + event.bytes - 1;
  }
  return limit;
}

// Asks what memory would be with an edit, with the memory that there is as its capacity.
class Trial {
 public:
  Trial(const Trace& trace, const DeviceCauses& device)
      : trace_(trace), device_(device.peak.device), is_simulated_(device.fragmentation.has_value()) {
    capacity_ = capacity_of(trace, device_);
    if (!capacity_ && is_simulated_) capacity_ = room_at_failure(trace, device_);
    if (capacity_ && is_simulated_) capacity_ = limit_at_failure(trace, device_, *capacity_).value_or(*capacity_);
    if (!is_simulated_) add_up();
  }

  // Where it fits as it is, or how much there is is not known, nothing can be said about why it failed.
  bool knows() const {
    return capacity_ && (is_simulated_ || memory_) && with({}).verdict() == MemoryWhatIf::Verdict::kFails;
  }

  MemoryWhatIf with(const MemoryEdit& edit) const {
    MemoryWhatIfChanges changes{.capacity = capacity_};
    changes.edit = edit;
    return is_simulated_ ? memory_what_if(trace_, device_, changes)
                         : walked_what_if(trace_, *memory_, blocks_, changes);
  }

 private:
  // Requests that failed stand in the allocator's log alone.
  void add_up() {
    for (DeviceMemory& each : memory_by_device(trace_))
      if (each.device == device_) memory_ = std::move(each);
    blocks_ = used_blocks(trace_, device_, phase_by_event(trace_, host_work_by_event(trace_)));
    for (const AllocatorEvent& event : trace_.allocator_events) {
      if (event.device != device_ || event.action != AllocatorAction::kOutOfMemory) continue;
      blocks_.push_back({.bytes = event.bytes, .allocated = event.time, .freed = event.time + 1, .event = event.event});
    }
  }

  const Trace& trace_;
  DeviceId device_;
  bool is_simulated_;
  std::optional<std::int64_t> capacity_;
  std::optional<DeviceMemory> memory_;
  std::vector<UsedBlock> blocks_;
};

// The first fix, else the second, else both: whichever is enough, or the last that was tried.
std::optional<TriedFixes> tried_fixes(const Trace& trace, const MemoryReport& report) {
  const DeviceCauses* const device = fullest(report.causes);
  std::vector<MemoryEdit> edits;
  for (const Finding& finding : report.findings) {
    if (finding.saving_bytes <= 0 || edits.size() == kMostNamedFindings) continue;
    if (!finding.memory_edit || finding.memory_edit->is_empty()) return {};
    edits.push_back(*finding.memory_edit);
  }
  if (device == nullptr || edits.empty()) return {};
  const Trial trial(trace, *device);
  if (!trial.knows()) return {};
  const auto is_enough = [](const TriedFixes& tried) {
    return tried.what_if.verdict() != MemoryWhatIf::Verdict::kFails;
  };
  const char* const words[kMostNamedFindings] = {"the first fix", "the second fix"};
  TriedFixes tried;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    tried = {words[i], trial.with(edits[i])};
    if (is_enough(tried)) return tried;
  }
  if (edits.size() < 2) return tried;
  return TriedFixes{"both fixes", trial.with(joined(edits))};
}

}  // namespace

std::vector<std::string> out_of_memory_diagnosis(const Trace& trace) {
  if (!has_memory(trace)) return {};
  const MemoryReport report = memory_report(trace, {}, true);
  return telltale::out_of_memory_diagnosis(report, tried_fixes(trace, report));
}

std::vector<std::string> out_of_memory_remarks(const Trace& trace, const MemoryReport& report) {
  std::vector<std::string> remarks;
  if (const std::string what = out_of_memory_text(trace); !what.empty()) remarks.push_back(what);
  if (remarks.empty()) return remarks;
  if (const auto tried = tried_fixes(trace, report); tried && tried->what_if.capacity)
    remarks.push_back(verdict_words(*tried));
  for (std::string& remark : remarks) {
    remark.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(remark.front())));
    remark += '.';
  }
  return remarks;
}

}  // namespace telltale::answers
