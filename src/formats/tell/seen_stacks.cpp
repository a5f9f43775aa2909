#include "formats/tell/seen_stacks.h"

#include <fmt/format.h>

#include <algorithm>

#include "trace/stack_frame.h"

namespace telltale::tell {
namespace {

constexpr std::string_view kModulePrefix = "nn.Module: ";

}  // namespace

StackNumber SeenStacks::of(std::string_view text) {
  if (text.empty()) return kNoFrames;
  const StringId id = strings_.intern(text);
  const auto [known, is_new] = by_text_.try_emplace(id, kNoFrames);
  if (!is_new) return known->second;
  Stack stack{id, frames_.size(), 0};
  for (std::size_t end = text.size(); end > 0;) {
    const std::size_t semicolon = text.rfind(';', end - 1);
    const std::size_t start = semicolon == std::string_view::npos ? 0 : semicolon + 1;
    if (end > start) frames_.push_back(seen_frame(text.substr(start, end - start)));
    end = start > 0 ? start - 1 : 0;
  }
  stack.count = frames_.size() - stack.first;
  if (stack.count == 0) return kNoFrames;
  stacks_.push_back(stack);
  return known->second = static_cast<StackNumber>(stacks_.size() - 1);
}

StackNumber SeenStacks::waiting(StackNumber stack, std::string_view waits_for) {
  if (stack == kNoFrames || waits_for.empty()) return stack;
  const StringId wait = strings_.intern(waits_for);
  const auto [known, is_new] = by_wait_.try_emplace(std::uint64_t{stack} << 32 | wait, kNoFrames);
  if (!is_new) return known->second;
  Stack longer = stacks_[stack];
  const std::size_t first = frames_.size();
  for (std::size_t i = 0; i < longer.count; ++i) frames_.push_back(SeenFrame(frames_[longer.first + i]));
  SeenFunction function = functions_[frames_.back().function];
  const std::int32_t line = frames_.back().line;
  function.waits_for = wait;
  function.line = line;
  frames_.push_back({numbered(function), line});
  stacks_.push_back({longer.text, first, longer.count + 1});
  return known->second = static_cast<StackNumber>(stacks_.size() - 1);
}

StackNumber SeenStacks::without_innermost(StackNumber stack) {
  const std::string_view text = strings_[stacks_[stack].text];
  const bool is_wait = functions_[frames(stack).back().function].waits_for != kEmptyString;
  const std::size_t semicolon = text.find(';');
  if (is_wait) return of(text);
  return semicolon == std::string_view::npos ? kNoFrames : of(text.substr(semicolon + 1));
}

std::span<const SeenFrame> SeenStacks::frames(StackNumber stack) const {
  return std::span(frames_).subspan(stacks_[stack].first, stacks_[stack].count);
}

std::size_t SeenStacks::shared(StackNumber a, StackNumber b) const {
  if (a == b) return stacks_[a].count;
  const std::size_t most = std::min(stacks_[a].count, stacks_[b].count);
  const SeenFrame* const of_a = frames_.data() + stacks_[a].first;
  const SeenFrame* const of_b = frames_.data() + stacks_[b].first;
  std::size_t count = 0;
  while (count < most && of_a[count].function == of_b[count].function) ++count;
  return count;
}

StringId SeenStacks::name(std::uint32_t number) {
  StringId& name = names_[number];
  if (name != kEmptyString) return name;
  const SeenFunction& function = functions_[number];
  if (function.waits_for != kEmptyString)
    name = strings_.intern(fmt::format("<waits for {}>", strings_[function.waits_for]));
  else if (function.file == kEmptyString)
    name = function.function;
  else
    name = strings_.intern(
        fmt::format("{}({}): {}", strings_[function.file], first_lines_[number], strings_[function.function]));
  return name;
}

Kind SeenStacks::kind(std::uint32_t number) const {
  const SeenFunction& function = functions_[number];
  const bool is_module = function.file == kEmptyString && function.waits_for == kEmptyString &&
                         strings_[function.function].starts_with(kModulePrefix);
  return is_module ? Kind::kModule : Kind::kPython;
}

SeenFrame SeenStacks::seen_frame(std::string_view text) {
  const auto parts = split_frame(text);
  if (!parts) return {numbered({kEmptyString, strings_.intern(text)}), 0};
  const std::uint32_t number = numbered({strings_.intern(parts->file), strings_.intern(parts->function)});
  std::int32_t& first = first_lines_[number];
  if (first == 0 || parts->line < first) first = parts->line;
  return {number, parts->line};
}

std::uint32_t SeenStacks::numbered(const SeenFunction& function) {
  const std::uint32_t number = functions_.intern(function);
  if (number == names_.size()) {
    names_.push_back(kEmptyString);
    first_lines_.push_back(0);
  }
  return number;
}

}  // namespace telltale::tell
