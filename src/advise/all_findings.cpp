#include "advise/all_findings.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "advise/memory_fixes.h"
#include "advise/memory_rule.h"
#include "advise/rule.h"
#include "analysis/host_work.h"
#include "memory/leaked_blocks.h"

namespace telltale {
namespace {

void complete_reach(Finding& finding) {
  if (finding.reach.empty()) finding.reach = finding.evidence;
  std::ranges::sort(finding.reach);
  finding.reach.erase(std::ranges::unique(finding.reach).begin(), finding.reach.end());
}

// The upper end of the range stays: it is for what the replay may be wrong about.
void cap(Saving& saving, Nanoseconds most) {
  saving.likely = std::min(saving.likely, most);
  saving.low = std::min(saving.low, saving.likely);
}

// A finding without events of its own shows the longest that its fix would shorten.
void complete_evidence(const Trace& trace, Finding& finding) {
  if (finding.evidence.empty()) {
    finding.evidence.resize(std::min(finding.reach.size(), Finding::kMaxEvidence));
    std::ranges::partial_sort_copy(finding.reach, finding.evidence, std::ranges::greater{}, {},
                                   [&](EventId event) { return trace.events.duration[event]; });
  }
  finding.evidence.resize(std::min(finding.evidence.size(), Finding::kMaxEvidence));
}

// The line on which most of the events' time is spent.
std::optional<SourceLine> costliest_line(const Trace& trace, const std::vector<EventId>& events) {
  std::map<std::tuple<std::string, int, std::string>, Nanoseconds> time_by_line;
  for (const EventId event : events)
    if (std::optional<SourceLine> line = source_line(trace, event))
      time_by_line[{std::move(line->file), line->line, std::move(line->function)}] += trace.events.duration[event];
  const auto costliest =
      std::ranges::max_element(time_by_line, {}, [](const auto& line_and_time) { return line_and_time.second; });
  if (costliest == time_by_line.end()) return {};
  const auto& [file, line, function] = costliest->first;
  return SourceLine{file, line, function};
}

void complete_source(const Trace& trace, Finding& finding) {
  if (!trace.recorded.stacks || finding.source) return;
  finding.source = costliest_line(trace, finding.evidence);
  if (!finding.source) finding.source = costliest_line(trace, finding.reach);
}

void settle(const Facts& facts, Finding& finding) {
  complete_reach(finding);
  if (is_about_time(finding)) {
    cap(finding.saving, most_saved_by(facts, finding.reach));
    complete_evidence(facts.trace, finding);
    complete_source(facts.trace, finding);
    // Changes are shown in Python, which a native program has none of.
    if (!uses_framework(facts.trace)) finding.fix.code.clear();
  }
  finding.evidence.resize(std::min(finding.evidence.size(), Finding::kMaxEvidence));
}

// A leak has a fix of its own, and no other one is promised what that frees.
MemoryEdit without_blocks_left_behind(MemoryEdit edit, std::span<const UsedBlock> blocks) {
  std::set<std::pair<std::uint64_t, Nanoseconds>> left;
  for (const UsedBlock& block : blocks)
    if (block.is_left_behind) left.emplace(block.address, block.allocated);
  std::erase_if(edit.blocks, [&](const BlockEdit& each) { return left.contains({each.address, each.allocated}); });
  return edit;
}

DeviceCauses without_what_leaks(DeviceCauses device) {
  for (const UsedBlock& block : device.at_peak) {
    if (!block.is_left_behind) continue;
    const auto use = std::ranges::find(device.peak.uses, block.use, &UseBytes::use);
    use->bytes -= block.bytes;
    --use->blocks;
  }
  std::erase_if(device.at_peak, std::mem_fn(&UsedBlock::is_left_behind));
  return device;
}

// What frees memory of the fullest device, and what the fixes of others do to it.
class MemoryFindings {
 public:
  MemoryFindings(const Facts& facts, bool keeps_edits) : facts_(facts), keeps_edits_(keeps_edits) {
    if (!facts.diagnosis.memory_causes) return;
    device_ = fullest(*facts.diagnosis.memory_causes);
    if (device_ != nullptr) needed_ = without_what_leaks(*device_);
  }

  // Of a rule of rules/ that is about memory.
  void complete(Finding& finding) const {
    if (device_ == nullptr) return;
    MemoryEdit edit = edit_for(facts_, *device_, finding, blocks());
    if (edit.is_empty()) return;
    finding.saving_bytes = bytes_saved_by(facts_, *device_, edit, blocks());
    if (keeps_edits_) finding.memory_edit = std::make_shared<const MemoryEdit>(std::move(edit));
  }

  std::vector<Finding> find(const std::function<bool(std::string_view)>& is_wanted) const {
    std::vector<Finding> findings;
    if (device_ == nullptr) return findings;
    for (const MemoryRule& rule : all_memory_rules()) {
      if (!is_wanted(rule.info.id)) continue;
      for (Finding& finding : rule.find(facts_, needed_, blocks())) {
        finding.rule = rule.info.id;
        if (keeps_edits_)
          finding.memory_edit = std::make_shared<const MemoryEdit>(
              without_blocks_left_behind(rule.edit(facts_, needed_, finding, blocks()), blocks()));
        settle(facts_, finding);
        findings.push_back(std::move(finding));
      }
    }
    return findings;
  }

 private:
  const std::vector<UsedBlock>& blocks() const {
    return blocks_.get([&] {
      const DeviceId device = device_->peak.device;
      std::vector<UsedBlock> blocks = used_blocks(facts_.trace, device, facts_.phases);
      const LeakedBlocks leaked(facts_.trace, device, facts_.diagnosis.memory_causes->leaks, device_->step_ends);
      leaked.mark(blocks, device_->peak.time);
      return blocks;
    });
  }

  const Facts& facts_;
  bool keeps_edits_;
  const DeviceCauses* device_ = nullptr;
  DeviceCauses needed_;  // the same without what leaks
  OnDemand<std::vector<UsedBlock>> blocks_;
};

}  // namespace

Nanoseconds most_saved_by(const Facts& facts, const std::vector<EventId>& events) {
  const Trace& trace = facts.trace;
  Edit edit = facts.unobserved;
  EventId behind = 0;  // host events before it are gone
  for (const EventId event : events) {
    if (is_on_device(trace.events.kind[event])) {
      edit.scale_event(trace, event, 0);
    } else if (event >= behind) {
      behind = subtree_end(trace, event);
      edit.scale_subtree(trace, facts.launched, event, 0, 0);
      for (EventId inner = event; inner < behind; ++inner) edit.drop_wait(trace, inner);
    }
  }
  return std::clamp<Nanoseconds>(facts.saved_by(edit), 0, facts.step);
}

std::vector<Finding> all_findings(const Facts& facts, const std::vector<std::string>& rules, Nanoseconds least,
                                  bool keeps_memory_edits) {
  const MemoryFindings memory(facts, keeps_memory_edits);
  const auto is_wanted = [&](std::string_view rule) {
    return rules.empty() || std::ranges::find(rules, rule) != rules.end();
  };
  std::vector<Finding> findings;
  for (const Rule& rule : all_rules()) {
    if (!is_wanted(rule.info.id)) continue;
    for (Finding& finding : rule.find(facts)) {
      if (finding.rule.empty()) finding.rule = rule.info.id;
      if (rule.info.is_about_memory) memory.complete(finding);
      const bool promised_time = is_about_time(finding);
      settle(facts, finding);
      // What its events cannot pay at all is no finding about memory instead.
      if (!promised_time || is_about_time(finding)) findings.push_back(std::move(finding));
    }
  }
  std::ranges::move(memory.find(is_wanted), std::back_inserter(findings));
  return ranked(std::move(findings), least);
}

}  // namespace telltale
