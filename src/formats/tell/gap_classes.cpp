#include "formats/tell/gap_classes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace telltale::tell {
namespace {

// More stretches than these are not made of one gap: a class with many stacks shows some of them in each of its gaps,
// in turn, so that a trace grows with its operators and not with how varied its samples are.
constexpr std::size_t kMostStretches = 4;

std::uint64_t key_of(StackNumber before, StackNumber behind) { return std::uint64_t{before} << 32 | behind; }

// The function at a depth; none when the stack ends there.
std::uint32_t function_at(const SeenStacks& stacks, StackNumber stack, std::size_t depth) {
  const auto frames = stacks.frames(stack);
  return depth < frames.size() ? frames[depth].function : std::numeric_limits<std::uint32_t>::max();
}

}  // namespace

void GapClasses::add(StackNumber before, StackNumber behind, StackNumber sample, double place) {
  Class& of = classes_[key_of(before, behind)];
  auto part = std::ranges::find(of.parts, sample, &Part::stack);
  if (part == of.parts.end()) part = of.parts.insert(of.parts.end(), {sample, 0, 0});
  ++part->samples;
  part->places += place;
  ++of.samples;
}

void GapClasses::divide(StackNumber before, StackNumber behind, Nanoseconds start, Nanoseconds end,
                        std::vector<StackStretch>& into) {
  const auto known = classes_.find(key_of(before, behind));
  if (known == classes_.end()) return;
  Class& of = known->second;
  if (!of.is_ordered) order(of);
  const auto length = static_cast<double>(end - start), all = static_cast<double>(of.samples);
  const auto add = [&](StackNumber stack, double until) {
    const Nanoseconds from = into.empty() ? start : into.back().end;
    const auto to = std::min(end, start + static_cast<Nanoseconds>(std::llround(until * length)));
    if (to <= from) return;
    if (!into.empty() && into.back().stack == stack)
      into.back().end = to;
    else
      into.push_back({from, to, stack});
  };
  into.clear();
  double before_it = 0;
  if (of.parts.size() <= kMostStretches) {
    for (const Part& part : of.parts) add(part.stack, (before_it += static_cast<double>(part.samples)) / all);
    return;
  }
  // Evenly spread places among the samples, shifted by the golden ratio from gap to gap: each part comes up as often as
  // its samples are many.
  constexpr double kGoldenRatio = 0.6180339887498949;
  const double shift = std::fmod(static_cast<double>(++of.divided) * kGoldenRatio, 1.0);
  std::size_t at = 0;
  for (std::size_t i = 0; i < kMostStretches; ++i) {
    const double place = (static_cast<double>(i) + shift) / static_cast<double>(kMostStretches) * all;
    while (at + 1 < of.parts.size() && before_it + static_cast<double>(of.parts[at].samples) <= place)
      before_it += static_cast<double>(of.parts[at++].samples);
    add(of.parts[at].stack, static_cast<double>(i + 1) / static_cast<double>(kMostStretches));
  }
}

// Paths side by side as a flame graph has them, what was seen earlier first. Stacks that differ by their lines alone
// become the one that was seen most often.
void GapClasses::order(Class& of) {
  order(of.parts, 0);
  std::vector<Part> paths;
  std::uint64_t most = 0;  // samples of the stack that stands for the path
  for (const Part& part : of.parts) {
    const std::size_t depth = stacks_.frames(part.stack).size();
    const bool is_same = !paths.empty() && stacks_.frames(paths.back().stack).size() == depth &&
                         stacks_.shared(paths.back().stack, part.stack) == depth;
    if (!is_same) {
      paths.push_back(part);
      most = part.samples;
      continue;
    }
    Part& path = paths.back();
    if (part.samples > most) {
      path.stack = part.stack;
      most = part.samples;
    }
    path.samples += part.samples;
  }
  of.parts = std::move(paths);
  of.is_ordered = true;
}

void GapClasses::order(std::span<Part> parts, std::size_t depth) {
  struct Group {
    double places = 0, samples = 0;
  };
  while (parts.size() > 1) {
    std::map<std::uint32_t, Group> groups;
    for (const Part& part : parts) {
      Group& group = groups[function_at(stacks_, part.stack, depth)];
      group.places += part.places;
      group.samples += static_cast<double>(part.samples);
    }
    if (groups.size() > 1) {
      const auto rank = [&](const Part& part) {
        const std::uint32_t function = function_at(stacks_, part.stack, depth);
        const Group& group = groups[function];
        return std::pair(group.places / group.samples, function);
      };
      std::ranges::stable_sort(parts, {}, rank);
      for (std::size_t first = 0; first < parts.size();) {
        std::size_t end = first + 1;
        while (end < parts.size() && rank(parts[end]) == rank(parts[first])) ++end;
        const auto group = parts.subspan(first, end - first);
        if (function_at(stacks_, group[0].stack, depth) != std::numeric_limits<std::uint32_t>::max())
          order(group, depth + 1);
        first = end;
      }
      return;
    }
    if (groups.begin()->first == std::numeric_limits<std::uint32_t>::max()) return;
    ++depth;
  }
}

}  // namespace telltale::tell
