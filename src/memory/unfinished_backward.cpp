#include "memory/unfinished_backward.h"

#include <algorithm>
#include <map>
#include <utility>

namespace telltale {
namespace {

// Of one call stack and size, in the order in which they were made.
using Alike = std::map<std::pair<StringId, std::int64_t>, std::vector<std::size_t>>;

std::map<Nanoseconds, Alike> passes_by_end(std::span<const MadeBlock> blocks, std::span<const Nanoseconds> ends) {
  std::map<Nanoseconds, Alike> passes;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto& [block, pool, category, part] = blocks[i];
    if (part != StackPart::kBackward || block.allocated == UsedBlock::kBeforeTheTrace) continue;
    const auto end = std::ranges::upper_bound(ends, block.allocated);
    passes[end == ends.end() ? UsedBlock::kNever : *end][{block.call_stack, block.bytes}].push_back(i);
  }
  return passes;
}

}  // namespace

std::vector<std::size_t> unfinished_temporaries(std::span<const MadeBlock> blocks, std::span<const Nanoseconds> ends,
                                                const std::set<std::int64_t>& parameter_sizes) {
  const std::map<Nanoseconds, Alike> passes = passes_by_end(blocks, ends);
  const auto unfinished = passes.find(UsedBlock::kNever);
  if (unfinished == passes.end()) return {};
  const Alike* const before = unfinished == passes.begin() ? nullptr : &std::prev(unfinished)->second;
  std::vector<std::size_t> temporaries;
  for (const auto& [kind, indices] : unfinished->second) {
    const auto alike = before == nullptr ? Alike::const_iterator() : before->find(kind);
    const std::size_t known = before == nullptr || alike == before->end() ? 0 : alike->second.size();
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const UsedBlock& block = blocks[indices[i]].block;
      if (block.is_noted || block.use != MemoryUse::kGradients) continue;
      const bool is_gradient = i < known ? blocks[alike->second[i]].block.use == MemoryUse::kGradients
                                         : parameter_sizes.empty() || parameter_sizes.contains(block.bytes);
      if (!is_gradient) temporaries.push_back(indices[i]);
    }
  }
  return temporaries;
}

}  // namespace telltale
