// The names by which programs and frameworks mark their steps, and which marks of a trace count.
//
// Marks of one maker that nest count once, by the outermost. Where threads have marks at the same time, as in files
// into which several processes were merged, those of one thread count: the one whose marks launch the most device work,
// then the one whose marks take the longest. Of several makers, torch.profiler's ProfilerStep# comes first, since a
// program asks for it; the others compete in the same way, those that repeat before those that do not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace telltale {

enum class MarkMaker : std::uint8_t { kTorch, kVllm, kSglang, kAtom, kLightning, kParam };
inline constexpr int kMarkMakerCount = static_cast<int>(MarkMaker::kParam) + 1;

// Who marks a step by an annotation of this name; nothing where it marks none.
std::optional<MarkMaker> maker_of_mark(std::string_view name);

// Whether torch.profiler marks a step by this name, whatever follows "ProfilerStep#".
bool is_step_name(std::string_view name);
// The number in the name of such a step; nothing where it is none, or is not a number from 0 on.
std::optional<std::int64_t> step_number(std::string_view name);
// The name of the step with that number.
std::string step_name(std::int64_t number);

// Whether a range of this name is an annotation even where its writer calls it an operator, as PyTorch did until 1.12
// and Ascend's profiler does.
bool is_annotation_name(std::string_view name);

// The steps that a trace marks, by start. Needs its events, their tracks and causes. O(n log n) in marks, linear in
// events.
std::vector<Step> marked_steps(const Trace& trace);

}  // namespace telltale
