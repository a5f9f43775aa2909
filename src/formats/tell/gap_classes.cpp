#include "formats/tell/gap_classes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace telltale::tell {
namespace {

// A gap is divided into as many stretches as have room in it at this length, within these bounds: a trace grows with
// its time and its operators, and not with how varied its samples are. All gaps of a class are divided alike, so that
// what repeats in the program repeats in the trace.
constexpr Nanoseconds kShortestStretch = 50'000;
constexpr Nanoseconds kFewestStretches = 4, kMostStretches = 64;

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// The function at a depth; kNone when the stack ends there.
std::uint32_t function_at(const SeenStacks& stacks, StackNumber stack, std::size_t depth) {
  const auto frames = stacks.frames(stack);
  return depth < frames.size() ? frames[depth].function : kNone;
}

}  // namespace

std::size_t GapClasses::Hash::operator()(const GapKind& kind) const {
  constexpr std::uint64_t kMix = 0x9e37'79b9'7f4a'7c15;  // 2⁶⁴ by the golden ratio: spreads its factor over all bits
  std::uint64_t hash = kind.between;
  for (const GapEnd& end : {kind.before, kind.behind})
    hash = (hash ^ (std::uint64_t{end.stack} << 32 | end.scope)) * kMix;
  return hash ^ hash >> 32;
}

void GapClasses::add(const GapKind& kind, StackNumber sample, Nanoseconds place, Nanoseconds length) {
  Class& of = classes_[kind];
  const auto [known, is_new] = of.part_of.try_emplace(sample, of.parts.size());
  if (is_new) of.parts.push_back({sample, 0, 0});
  Part& part = of.parts[known->second];
  ++part.samples;
  part.places += static_cast<double>(place) / static_cast<double>(length);
  ++of.samples;
  of.longest = std::max(of.longest, length);
}

void GapClasses::divide(const GapKind& kind, Nanoseconds start, Nanoseconds end, std::vector<StackStretch>& into) {
  into.clear();
  auto known = classes_.find(kind);
  if (known == classes_.end() && kind.between != 0) known = classes_.find({kind.before, kind.behind, 0});
  if (known == classes_.end()) return;
  Class& of = known->second;
  if (!of.is_ordered) order(of, {kind.before.stack, kind.behind.stack});
  const auto length = static_cast<double>(end - start), all = static_cast<double>(of.samples);
  double samples = 0;
  for (const Part& part : of.parts) {
    samples += static_cast<double>(part.samples);
    const Nanoseconds from = into.empty() ? start : into.back().end;
    const Nanoseconds to = std::min(end, start + static_cast<Nanoseconds>(std::llround(samples / all * length)));
    if (to > from) into.push_back({from, to, part.stack});
  }
}

// Stacks that differ by their lines alone become the one that was seen most often. Paths stand side by side as a flame
// graph has them, what was seen earlier first.
void GapClasses::order(Class& of, Around around) {
  std::ranges::stable_sort(of.parts, std::ranges::greater{}, &Part::samples);
  std::map<Path, Part> paths;
  for (const Part& part : of.parts) {
    Path path;
    for (const SeenFrame& frame : stacks_.frames(part.stack)) path.push_back(frame.function);
    Part& known = paths.try_emplace(std::move(path), Part{part.stack, 0, 0}).first->second;
    known.samples += part.samples;
    known.places += part.places;
  }
  fold(paths, static_cast<std::size_t>(std::clamp(of.longest / kShortestStretch, kFewestStretches, kMostStretches)));
  of.parts.clear();
  for (const auto& [path, part] : paths) of.parts.push_back(part);
  order(of.parts, 0, around);
  of.is_ordered = true;
}

// Until few paths are left, those with the fewest samples become the time of their callers.
void GapClasses::fold(std::map<Path, Part>& paths, std::size_t most) {
  for (std::uint64_t few = 1; paths.size() > most;) {
    std::map<Path, Part> folded;
    bool has_changed = false, can_change = false;
    for (const auto& [path, part] : paths) {
      const bool is_outermost = path.size() <= 1;
      const bool is_few = !is_outermost && part.samples <= few;
      can_change |= !is_outermost;
      has_changed |= is_few;
      const Path caller(path.begin(), path.end() - (is_few ? 1 : 0));
      Part& known = folded.try_emplace(caller).first->second;
      if (part.samples > known.samples || known.stack == kNoFrames)
        known.stack = is_few ? stacks_.without_innermost(part.stack) : part.stack;
      known.samples += part.samples;
      known.places += part.places;
    }
    if (!can_change) return;
    if (!has_changed) few *= 2;
    paths = std::move(folded);
  }
}

// What goes on from the stack before comes first, since nobody returns to a call that has ended; what goes on in the
// stack behind comes last; the rest stands between them in the order in which it was seen.
void GapClasses::order(std::span<Part> parts, std::size_t depth, Around around) {
  struct Group {
    double places = 0, samples = 0;
  };
  if (parts.size() <= 1) return;
  std::map<std::uint32_t, Group> groups;
  for (const Part& part : parts) {
    Group& group = groups[function_at(stacks_, part.stack, depth)];
    group.places += part.places;
    group.samples += static_cast<double>(part.samples);
  }
  const std::uint32_t before = function_at(stacks_, around.before, depth);
  const std::uint32_t behind = function_at(stacks_, around.behind, depth);
  const auto rank = [&](const Part& part) {
    const std::uint32_t function = function_at(stacks_, part.stack, depth);
    const Group& group = groups[function];
    const int side = function == kNone || before == behind ? 0 : function == before ? -1 : function == behind ? 1 : 0;
    return std::tuple(side, group.places / group.samples, function);
  };
  if (groups.size() > 1) std::ranges::stable_sort(parts, {}, rank);
  for (std::size_t first = 0; first < parts.size();) {
    const std::uint32_t function = function_at(stacks_, parts[first].stack, depth);
    std::size_t end = first + 1;
    while (end < parts.size() && function_at(stacks_, parts[end].stack, depth) == function) ++end;
    if (function != kNone)
      order(parts.subspan(first, end - first), depth + 1,
            {function == before ? around.before : kNoFrames, function == behind ? around.behind : kNoFrames});
    first = end;
  }
}

}  // namespace telltale::tell
