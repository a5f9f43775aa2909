#include "memory/batch_scaling.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "memory/stack_words.h"

namespace telltale {
namespace {

using Asked = AllocatorRequest::Kind;

// From which entry to which a block lives; kNoAllocatorEntry: before the log, or beyond its end.
struct Life {
  std::size_t made = kNoAllocatorEntry, freed = kNoAllocatorEntry;
  std::int64_t bytes = 0;
  bool was_served = true;  // and not refused for lack of memory
};

std::vector<Life> lives_of(const AllocatorRequests& requests) {
  std::vector<Life> lives(requests.blocks);
  for (std::size_t i = 0; i < requests.start_blocks.size(); ++i)
    lives[i].bytes = requests.start.block_at(requests.start_blocks[i])->requested;
  for (const AllocatorRequest& request : requests.list) {
    if (request.kind == Asked::kAllocate || request.kind == Asked::kFailedAllocate)
      lives[request.block] = {
          .made = request.entry, .bytes = request.bytes, .was_served = request.kind == Asked::kAllocate};
    else if (request.kind == Asked::kFree || request.kind == Asked::kCompleteFree)
      lives[request.block].freed = request.entry;
  }
  return lives;
}

bool stays(const Life& life) {
  return life.was_served && (life.made == kNoAllocatorEntry || life.freed == kNoAllocatorEntry);
}

// The blocks of call stacks all of whose blocks, and there are several, are freed only when nothing is allocated any
// more: because the program ends.
std::vector<bool> kept_to_the_end(const Trace& trace, const AllocatorRequests& requests,
                                  const std::vector<Life>& lives) {
  const auto is_allocation = [](const AllocatorRequest& request) { return request.kind == Asked::kAllocate; };
  const auto last = std::ranges::find_if(requests.list.rbegin(), requests.list.rend(), is_allocation);
  struct Stack {
    std::vector<std::size_t> blocks;
    bool are_kept = true;
  };
  std::map<StringId, Stack> stacks;
  for (std::size_t i = 0; i < lives.size(); ++i) {
    const Life& life = lives[i];
    if (life.made == kNoAllocatorEntry || !life.was_served) continue;
    Stack& stack = stacks[trace.allocator_events[life.made].call_stack];
    stack.blocks.push_back(i);
    stack.are_kept = stack.are_kept && (life.freed == kNoAllocatorEntry || life.freed > last->entry);
  }
  std::vector<bool> are_kept(lives.size());
  for (const auto& [name, stack] : stacks) {
    if (name == kEmptyString || stack.blocks.size() < 2 || !stack.are_kept) continue;
    for (const std::size_t block : stack.blocks) are_kept[block] = true;
  }
  return are_kept;
}

bool is_fixed_role(std::string_view role) {
  return role == "parameter" || role == "gradient" || role == "optimizer_state" || role == "buffer";
}

// What the program noted of the block that lies at an address from one time to another; empty where it noted nothing.
class Notes {
 public:
  Notes(const Trace& trace, DeviceId device) : trace_(trace) {
    for (const NotedTensor& note : trace.noted_tensors)
      if (note.device == device) by_address_[note.address].push_back(&note);
  }
  std::string_view role(std::uint64_t address, std::int64_t bytes, Nanoseconds from, Nanoseconds to) const {
    const std::uint64_t end = address + static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 1));
    for (auto at = by_address_.lower_bound(address); at != by_address_.end() && at->first < end; ++at) {
      const auto later = [](Nanoseconds time, const NotedTensor* note) { return time < note->time; };
      const auto after = std::upper_bound(at->second.begin(), at->second.end(), to, later);
      if (after != at->second.begin() && (*std::prev(after))->time >= from)
        return trace_.strings[(*std::prev(after))->role];
    }
    return {};
  }

 private:
  const Trace& trace_;
  std::map<std::uint64_t, std::vector<const NotedTensor*>> by_address_;  // each by time
};

// The step that is under way at a time, counted from 1; 0 before the first.
std::size_t step_at(const Trace& trace, Nanoseconds time) {
  const auto after = std::ranges::upper_bound(trace.steps, time, {}, &Step::start);
  return static_cast<std::size_t>(after - trace.steps.begin());
}

// What was asked for with one call stack, in order.
struct Asking {
  std::vector<std::size_t> blocks;
  std::vector<double> bytes;

  // A batch that is smaller than the others, as the last of a data set, does not move it.
  double median() const {
    std::vector<double> sizes = bytes;
    const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
    std::ranges::nth_element(sizes, middle);
    return *middle;
  }
};

// By the text of the call stack, since two traces have numbers of their own. What has none, as on autograd's threads,
// has the same.
std::map<std::string_view, Asking> asked_by_stack(const Trace& trace, const AllocatorRequests& requests) {
  std::map<StringId, Asking> by_id;
  for (const AllocatorRequest& request : requests.list) {
    if (request.kind != Asked::kAllocate && request.kind != Asked::kFailedAllocate) continue;
    Asking& asking = by_id[trace.allocator_events[request.entry].call_stack];
    asking.blocks.push_back(request.block);
    asking.bytes.push_back(static_cast<double>(std::max<std::int64_t>(request.bytes, 1)));
  }
  std::map<std::string_view, Asking> by_text;
  for (auto& [stack, asking] : by_id) by_text[trace.strings[stack]] = std::move(asking);
  return by_text;
}

// A block, and how many times as large it is in the other recording.
struct Growth {
  std::size_t block = 0;
  double ratio = 1, bytes = 0;
};

bool is_near(double size, double wanted) { return std::abs(size - wanted) < 0.01 * wanted; }

// Where both asked as often with a stack, the one's first block is the other's first, and so on; elsewhere the median
// decides, unless there is no stack, which says nothing.
std::vector<Growth> growth_between(const std::map<std::string_view, Asking>& here,
                                   const std::map<std::string_view, Asking>& there) {
  std::vector<Growth> growth;
  for (const auto& [stack, asking] : here) {
    const auto found = there.find(stack);
    if (found == there.end()) continue;
    const Asking& other = found->second;
    const bool are_paired = other.bytes.size() == asking.bytes.size();
    if (!are_paired && stack.empty()) continue;
    for (std::size_t i = 0; i < asking.blocks.size(); ++i) {
      const double ratio = are_paired ? other.bytes[i] / asking.bytes[i] : other.median() / asking.median();
      growth.push_back({asking.blocks[i], ratio, asking.bytes[i]});
    }
  }
  return growth;
}

// The ratio of the batches: most bytes of what grows at all grow as the batch does. 1 where nothing grows.
double batch_ratio(std::vector<Growth> growing) {
  std::erase_if(growing, [](const Growth& each) { return is_near(each.ratio, 1); });
  std::ranges::sort(growing, {}, &Growth::ratio);
  double weight = 0, below = 0;
  for (const Growth& each : growing) weight += each.bytes;
  for (const Growth& each : growing) {
    below += each.bytes;
    if (below >= weight / 2) return each.ratio;
  }
  return 1;
}

// For stacks that one asked with more often than the other, as where the one took more steps: a size that the other
// asked for as well does not grow, one that it asked for times the ratio does. What is both or neither stays unknown.
void add_growth_by_size(const std::map<std::string_view, Asking>& here, const std::map<std::string_view, Asking>& there,
                        double ratio, std::vector<std::optional<double>>& shares) {
  for (const auto& [stack, asking] : here) {
    const auto found = there.find(stack);
    if (found == there.end() || found->second.bytes.size() == asking.bytes.size()) continue;
    std::vector<double> sizes = found->second.bytes;
    std::ranges::sort(sizes);
    const auto has = [&](double wanted) {
      const auto at = std::ranges::lower_bound(sizes, 0.99 * wanted);
      return at != sizes.end() && is_near(*at, wanted);
    };
    for (std::size_t i = 0; i < asking.blocks.size(); ++i) {
      const bool is_fixed = has(asking.bytes[i]), grows = has(ratio * asking.bytes[i]);
      if (is_fixed != grows) shares[asking.blocks[i]] = grows ? 1 : 0;
    }
  }
}

// What each block is for, as far as that is told.
std::vector<MemoryUse> uses_of(const Trace& trace, const AllocatorRequests& requests,
                               std::span<const UsedBlock> blocks) {
  std::map<std::pair<std::uint64_t, Nanoseconds>, MemoryUse> by_place;
  for (const UsedBlock& block : blocks) by_place.try_emplace({block.address, block.allocated}, block.use);
  std::vector<MemoryUse> uses(requests.blocks, MemoryUse::kOther);
  const auto look_up = [&](std::size_t block, std::uint64_t address, Nanoseconds time) {
    const auto found = by_place.find({address, time});
    if (found != by_place.end()) uses[block] = found->second;
  };
  for (std::size_t i = 0; i < requests.start_blocks.size(); ++i)
    look_up(i, requests.start_blocks[i], UsedBlock::kBeforeTheTrace);
  for (const AllocatorRequest& request : requests.list) {
    const AllocatorEvent& event = trace.allocator_events[request.entry];
    if (request.kind == Asked::kAllocate) look_up(request.block, event.address, event.time);
  }
  return uses;
}

// Whether an entry's frames say that the optimizer made it.
class Optimizers {
 public:
  explicit Optimizers(const Trace& trace) : trace_(trace) {}
  bool made(std::size_t entry) {
    if (entry == kNoAllocatorEntry) return false;
    const StringId stack = trace_.allocator_events[entry].call_stack;
    const auto [place, is_new] = known_.try_emplace(stack);
    if (is_new) place->second = part_of_stack(trace_.strings[stack]) == StackPart::kOptimizer;
    return place->second;
  }

 private:
  const Trace& trace_;
  std::map<StringId, bool> known_;
};

// Why it is not known whether a block grows.
enum class Doubt : std::uint8_t {
  kNone,
  kHasSizeOfWhatStays,
  kHasSizeOfWhatStaysAndIsKeptForBackward,
  kCrossesSteps,
  kIsKeptToTheEnd
};
constexpr int kDoubts = 4;

struct Guess {
  double share = 0;  // where there is no doubt
  Doubt doubt = Doubt::kNone;
};

std::vector<Guess> guesses(const Trace& trace, const AllocatorRequests& requests, std::span<const UsedBlock> blocks) {
  const std::vector<Life> lives = lives_of(requests);
  const std::vector<MemoryUse> uses = uses_of(trace, requests, blocks);
  const Notes notes(trace, requests.device);
  Optimizers optimizers(trace);
  const std::vector<bool> are_kept = kept_to_the_end(trace, requests, lives);
  // Of what may have a gradient: a library's workspace has none.
  std::set<std::int64_t> staying_sizes;
  for (std::size_t i = 0; i < lives.size(); ++i)
    if ((stays(lives[i]) || are_kept[i]) && uses[i] != MemoryUse::kWorkspace) staying_sizes.insert(lives[i].bytes);
  std::vector<Guess> guesses(lives.size());
  for (std::size_t i = 0; i < lives.size(); ++i) {
    const Life& life = lives[i];
    const bool is_before = life.made == kNoAllocatorEntry;
    const Nanoseconds from = is_before ? INT64_MIN : trace.allocator_events[life.made].time;
    const Nanoseconds to = life.freed == kNoAllocatorEntry ? INT64_MAX : trace.allocator_events[life.freed].time;
    const std::uint64_t address = is_before ? requests.start_blocks[i] : trace.allocator_events[life.made].address;
    const std::string_view role = life.was_served ? notes.role(address, life.bytes, from, to) : std::string_view();
    if (is_fixed_role(role) || (role.empty() && (stays(life) || uses[i] == MemoryUse::kWorkspace))) continue;
    const bool has_staying_size = staying_sizes.contains(life.bytes);
    const bool is_fixed = uses[i] == MemoryUse::kGradients || optimizers.made(life.made);
    if (role.empty() && has_staying_size && is_fixed && !are_kept[i]) continue;
    guesses[i].share = 1;
    if (!role.empty()) continue;
    if (are_kept[i])
      guesses[i].doubt = Doubt::kIsKeptToTheEnd;
    else if (has_staying_size)
      guesses[i].doubt = uses[i] == MemoryUse::kActivations ? Doubt::kHasSizeOfWhatStaysAndIsKeptForBackward
                                                            : Doubt::kHasSizeOfWhatStays;
    else if (!stays(life) && step_at(trace, from) != step_at(trace, to))
      guesses[i].doubt = Doubt::kCrossesSteps;
  }
  return guesses;
}

// A way for each combination of the doubts that there are.
std::vector<std::vector<double>> ways_of(const std::vector<Guess>& guesses) {
  std::vector<Doubt> doubts;
  for (int i = 1; i <= kDoubts; ++i)
    if (std::ranges::find(guesses, static_cast<Doubt>(i), &Guess::doubt) != guesses.end())
      doubts.push_back(static_cast<Doubt>(i));
  std::vector<std::vector<double>> ways;
  for (unsigned chosen = 0; chosen < 1U << doubts.size(); ++chosen) {
    const auto share = [&](const Guess& guess) {
      const auto doubt = std::ranges::find(doubts, guess.doubt);
      return doubt == doubts.end() ? guess.share : static_cast<double>(chosen >> (doubt - doubts.begin()) & 1U);
    };
    ways.emplace_back(guesses.size());
    std::ranges::transform(guesses, ways.back().begin(), share);
  }
  return ways;
}

}  // namespace

BatchScaling batch_scaling(const Trace& trace, const AllocatorRequests& requests, std::span<const UsedBlock> uses) {
  return {.ways = ways_of(guesses(trace, requests, uses))};
}

BatchScaling batch_scaling(const Trace& trace, const AllocatorRequests& requests, std::span<const UsedBlock> uses,
                           const Trace& other, const AllocatorRequests& others) {
  const auto here = asked_by_stack(trace, requests), there = asked_by_stack(other, others);
  const std::vector<Growth> growth = growth_between(here, there);
  const double ratio = batch_ratio(growth);
  if (ratio == 1) {
    const bool has_stacks = std::ranges::any_of(here, [](const auto& each) { return !each.first.empty(); });
    return {.ways = ways_of(guesses(trace, requests, uses)),
            .remark = has_stacks ? "nothing in the two recordings that has the same call stack differs in size"
                                 : "no call stacks were recorded, so the other recording could not be compared"};
  }
  std::vector<std::optional<double>> shares(requests.blocks);
  for (const Growth& each : growth)
    shares[each.block] =
        is_near(each.ratio, ratio * ratio) ? kGrowsAsSquare : std::clamp((each.ratio - 1) / (ratio - 1), 0.0, 1.0);
  add_growth_by_size(here, there, ratio, shares);
  std::vector<Guess> known = guesses(trace, requests, uses);
  for (std::size_t i = 0; i < known.size(); ++i)
    if (shares[i]) known[i] = {.share = *shares[i]};
  return {.ways = ways_of(known), .is_from_two = true, .batch_ratio = ratio};
}

std::vector<double> scale_of(const std::vector<double>& shares, double batch_factor) {
  std::vector<double> scale(shares.size());
  std::ranges::transform(shares, scale.begin(), [&](double share) {
    return share == kGrowsAsSquare ? batch_factor * batch_factor : 1 + share * (batch_factor - 1);
  });
  return scale;
}

}  // namespace telltale
