#include "advise/memory_rule.h"

#include <algorithm>

#include "memory/stack_words.h"

namespace telltale {
namespace {

MemoryRule named(const char* id, MemoryRule rule) {
  rule.info.id = id;
  rule.info.is_about_memory = true;
  return rule;
}

}  // namespace

std::span<const MemoryRule> all_memory_rules() {
#define TELLTALE_MEMORY_RULE(name) named(#name, memory_rules::name()),
  static const auto& kRules = *new std::vector<MemoryRule>{
  // for ever: a diagnosis may go on while the process ends
#include "advise/memory_rules/list.inc"
  };
#undef TELLTALE_MEMORY_RULE
  return kRules;
}

std::span<const RuleInfo> memory_rule_infos() {
  static const auto& kInfos = *[] {
    auto* const infos = new std::vector<RuleInfo>;
    for (const MemoryRule& rule : all_memory_rules()) infos->push_back(rule.info);
    return infos;
  }();
  return kInfos;
}

bool is_worth_freeing(const DeviceCauses& device, std::int64_t bytes) {
  return bytes > 0 && static_cast<double>(bytes) >= kLeastShareFreed * static_cast<double>(device.peak.allocated);
}

std::int64_t peak_lowered_by(const MemoryEdit& edit, std::span<const UsedBlock> blocks) {
  return edited_peak(blocks, {}).allocated - edited_peak(blocks, edit).allocated;
}

bool is_temporary_of_optimizer(const Facts& facts, const UsedBlock& block) {
  if (block.use != MemoryUse::kTemporaries) return false;
  if (block.event != kNoEvent && facts.phases[block.event] == Phase::kOptimizer) return true;
  return part_of_stack(facts.trace.strings[block.call_stack]) == StackPart::kOptimizer;
}

std::int64_t bytes_for(const DeviceCauses& device, MemoryUse use) {
  const auto row = std::ranges::find(device.peak.uses, use, &UseBytes::use);
  return row == device.peak.uses.end() ? 0 : row->bytes;
}

}  // namespace telltale
