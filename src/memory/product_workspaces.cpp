#include "memory/product_workspaces.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/memory_summary.h"
#include "analysis/source_line.h"

namespace telltale {
namespace {

// What PyTorch gives cuBLAS to work in where CUBLAS_WORKSPACE_CONFIG does not say otherwise: on GPUs of Hopper's
// generation and later, and on those before.
constexpr std::int64_t kSizes[] = {8 * 4096 * 1024, (2 * 4096 + 8 * 16) * 1024};
// The operators that call cuBLAS.
constexpr std::string_view kProducts[] = {"aten::mm",
                                          "aten::addmm",
                                          "aten::_addmm_activation",
                                          "aten::bmm",
                                          "aten::baddbmm",
                                          "aten::addmv",
                                          "aten::dot",
                                          "aten::linear",
                                          "aten::_scaled_mm",
                                          "aten::_scaled_grouped_mm",
                                          "aten::_grouped_mm"};
// Python that autograd calls on its own threads: their stacks begin with it.
constexpr std::string_view kCalledByAutograd[] = {"torch/utils/checkpoint.py", "torch/autograd/"};

bool has_size(const UsedBlock& block) { return std::ranges::find(kSizes, block.bytes) != std::end(kSizes); }

// What a thread's stacks begin with, but for the line; empty for autograd's.
std::string start_of(std::string_view stack) {
  const std::optional<SourceLine> frame = parsed_frame(stack.substr(stack.rfind(';') + 1));
  if (!frame) return {};
  const auto is_in_file = [&](std::string_view part) { return frame->file.contains(part); };
  if (std::ranges::any_of(kCalledByAutograd, is_in_file)) return {};
  return frame->file + ": " + frame->function;
}

bool may_multiply(StackPart part) { return part == StackPart::kForward || part == StackPart::kBackward; }

class Workspaces {
 public:
  Workspaces(const Trace& trace, std::span<const MadeBlock> blocks, Nanoseconds end)
      : trace_(trace), blocks_(blocks), end_(end) {}

  std::vector<std::size_t> found() {
    const bool has_stacks =
        std::ranges::any_of(blocks_, [](const MadeBlock& made) { return made.block.call_stack != kEmptyString; });
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (!has_size(blocks_[i].block)) continue;
      if (trace_.operator_at(blocks_[i].block.event) != kNoEvent)
        offer_by_operator(i);
      else if (has_stacks)
        offer_by_stack(i);
    }
    std::vector<std::size_t> indices;
    for (const auto& [track, index] : by_track_) indices.push_back(index);
    for (const auto& [start, index] : by_start_of_stack_) indices.push_back(index);
    if (without_stack_ && !may_be_from_before_) indices.push_back(*without_stack_);
    return indices;
  }

 private:
  void offer_by_operator(std::size_t index) {
    const auto& [block, pool, category, part] = blocks_[index];
    const EventId maker = maker_of(trace_, block.event);
    if (part < StackPart::kOptimizer || block.freed <= end_ || maker == kNoEvent) return;
    if (std::ranges::find(kProducts, trace_.name(maker)) == std::end(kProducts)) return;
    const auto [known, is_new] = by_track_.try_emplace(trace_.events.track[block.event], index);
    if (is_new) return;
    const UsedBlock& first = blocks_[known->second].block;
    const bool is_behind_result = first.event == block.event && first.allocated < block.allocated;
    if (block.event < first.event || is_behind_result) known->second = index;
  }

  void offer_by_stack(std::size_t index) {
    const auto& [block, pool, category, part] = blocks_[index];
    if (block.freed != UsedBlock::kNever || !may_multiply(part)) return;
    const bool is_from_before = block.allocated == UsedBlock::kBeforeTheTrace;
    if (block.call_stack == kEmptyString) {
      may_be_from_before_ = may_be_from_before_ || is_from_before;
      // The first product's result may be as large, and stay too.
      if (!is_from_before && (!without_stack_ || index == *without_stack_ + 1)) without_stack_ = index;
      return;
    }
    const bool is_behind_result = index > 0 && blocks_[index - 1].block.call_stack == block.call_stack;
    if (is_from_before || !is_behind_result) return;
    const std::string start = start_of(trace_.strings[block.call_stack]);
    if (!start.empty())
      by_start_of_stack_.try_emplace(start, index);
    else if (!without_stack_)
      without_stack_ = index;
  }

  const Trace& trace_;
  std::span<const MadeBlock> blocks_;
  Nanoseconds end_;
  std::map<TrackId, std::size_t> by_track_;
  std::map<std::string, std::size_t> by_start_of_stack_;
  std::optional<std::size_t> without_stack_;  // of autograd's thread
  bool may_be_from_before_ = false;           // that of autograd's thread
};

}  // namespace

std::vector<std::size_t> product_workspaces(const Trace& trace, std::span<const MadeBlock> blocks, Nanoseconds end) {
  return Workspaces(trace, blocks, end).found();
}

}  // namespace telltale
