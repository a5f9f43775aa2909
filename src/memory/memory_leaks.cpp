#include "memory/memory_leaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "analysis/memory_summary.h"
#include "analysis/robust_statistics.h"
#include "memory/memory_peak.h"
#include "trace/loader_facts.h"
#include "trace/reference_chains.h"
#include "trace/resident_memory.h"

namespace telltale {
namespace {

// Of the resident size of a process, over all steps. The recorder itself may take as much for events that are not
// written yet: see --memory-limit.
constexpr double kLeastResidentGrowth = 64.0 * 1024 * 1024;

// Fewer readings of a resident size say nothing: libraries and kernels are still being loaded.
constexpr std::size_t kLeastReadings = 8;

// When the outermost module that is called most often is done, each time.
std::vector<Nanoseconds> ends_of_module_calls(const Trace& trace) {
  std::map<StringId, std::vector<Nanoseconds>> by_name;
  std::vector<bool> is_inside(trace.events.size());  // of a module
  for (EventId event = 0; event < trace.events.size(); ++event) {
    const EventId parent = trace.events.parent[event];
    const bool is_module = trace.events.kind[event] == Kind::kModule;
    is_inside[event] = parent != kNoEvent && (is_inside[parent] || trace.events.kind[parent] == Kind::kModule);
    if (is_module && !is_inside[event]) by_name[trace.events.name[event]].push_back(trace.events.end(event));
  }
  const auto most = std::ranges::max_element(by_name, {}, [](const auto& each) { return each.second.size(); });
  if (most == by_name.end()) return {};
  std::ranges::sort(most->second);
  return most->second;
}

// The rate at which something grows, or 0: that of all steps and of their second half, whichever is less.
double growth_of(std::span<const std::int64_t> levels) {
  const auto late = levels.last((levels.size() + 1) / 2);
  const double whole = theil_sen_slope(levels).value_or(0), of_late = theil_sen_slope(late).value_or(whole);
  // Of two values there is one slope.
  const double slope = late.size() == 2 ? static_cast<double>(late[1] - late[0]) : of_late;
  return std::max(0.0, std::min(whole, slope));
}

// A leak goes on as it began. What warms up, as malloc does until it finds room in what was freed, slows down.
bool goes_on(std::span<const std::int64_t> levels) {
  constexpr double kLeastOfEarly = 0.5;
  const std::size_t half = levels.size() / 2;
  const double early = theil_sen_slope(levels.first(half + 1)).value_or(0);
  return theil_sen_slope(levels.subspan(half)).value_or(0) >= kLeastOfEarly * early;
}

// What one operator made and nothing freed.
struct Made {
  std::int64_t bytes = 0;
  EventId newest = kNoEvent;
};

struct Line {
  // Of what is older than the step, at the end of each: first how they change, then what they are.
  std::vector<std::int64_t> bytes, blocks;
  // Of what stays behind all steps.
  std::map<MemoryUse, std::int64_t> by_use;
  std::map<std::string_view, Made> by_operator;
  std::int64_t staying = 0;
  const ReferenceChain* chain = nullptr;  // of one of its tensors
  const ReferenceChain* graph = nullptr;  // of one that keeps a graph with the operator of one of them
};

// The chain of a tensor that keeps the graph in which the operator around the event is; null where there is none.
const ReferenceChain* keeper_of_graph(const Trace& trace, const std::vector<ReferenceChain>& chains, EventId event) {
  constexpr int kMostLooks = 10;
  for (int looks = 0; event != kNoEvent && looks < kMostLooks; ++looks, event = trace.events.parent[event]) {
    const OperatorInfo* const info = trace.operators.find(event);
    if (info == nullptr || info->sequence == OperatorInfo::kNoSequence) continue;
    const auto found =
        std::ranges::find_if(chains, [&](const ReferenceChain& chain) { return chain.keeps_graph_of(info->sequence); });
    return found == chains.end() ? nullptr : &*found;
  }
  return nullptr;
}

// What keeps a line's tensors alive: empty where that was not found.
std::vector<std::string> links_of(const Line& line) {
  if (line.chain != nullptr) return line.chain->links;
  if (line.graph == nullptr) return {};
  std::vector<std::string> links = {"what the backward pass would need"};
  links.insert(links.end(), line.graph->links.begin(), line.graph->links.end());
  return links;
}

// How often the most until then is exceeded, from the given step on.
int rises_from(std::span<const std::int64_t> levels, std::size_t first) {
  std::int64_t most = levels.front();
  int rises = 0;
  for (std::size_t step = 1; step < levels.size(); ++step) {
    if (levels[step] <= most) continue;
    most = levels[step];
    rises += step >= first;
  }
  return rises;
}

// What rises once between two steps rises in half of all pairs of steps, too, and twice is seldom more than a warm-up.
bool rises_again_and_again(std::span<const std::int64_t> levels) {
  constexpr int kLeastRises = 3, kLeastLate = 2;
  // Half of a few steps has room for one.
  constexpr std::size_t kFewSteps = 8;
  return rises_from(levels, 0) >= kLeastRises &&
         (levels.size() <= kFewSteps || rises_from(levels, levels.size() / 2) >= kLeastLate);
}

// 0 where it is not both bytes and blocks that grow. Nothing is older than the first step.
double growth_of(Line& line) {
  for (std::vector<std::int64_t>* levels : {&line.bytes, &line.blocks})
    std::partial_sum(levels->begin(), levels->end(), levels->begin());
  const auto later = [](const std::vector<std::int64_t>& levels) { return std::span(levels).subspan(1); };
  if (!rises_again_and_again(line.blocks) || growth_of(later(line.blocks)) <= 0) return 0;
  return growth_of(later(line.bytes));
}

// The step within which a time lies, as an index of `ends`.
std::size_t step_of(const std::vector<Nanoseconds>& ends, Nanoseconds time) {
  return static_cast<std::size_t>(std::ranges::lower_bound(ends, time) - ends.begin());
}

// Which child processes are workers of data loaders, by the names of their series.
class LoaderWorkers {
 public:
  explicit LoaderWorkers(const Trace& trace) : ids_(loader_worker_ids(trace)) {
    if (ids_) return;
    // Recordings that do not name them have workers alone where there are no more children than those.
    std::int64_t workers = 0;
    for (const LoaderSetup& setup : loader_setups(trace))
      workers += std::int64_t{setup.workers} * std::max(1, setup.iterators);
    const auto children = std::ranges::count_if(trace.counters.series, [&](const CounterSeries& series) {
      return trace.strings[series.name] == kResidentMemory && is_process_series(trace.strings[series.series]);
    });
    are_all_ = workers > 0 && children <= workers;
  }

  bool contain(std::string_view series) const {
    if (!is_process_series(series)) return false;
    const auto is_named = [&](std::int64_t id) { return series.ends_with(fmt::format(" {}", id)); };
    return ids_ ? std::ranges::any_of(*ids_, is_named) : are_all_;
  }

 private:
  std::optional<std::vector<std::int64_t>> ids_;
  bool are_all_ = false;
};

std::optional<double> steps_to_full(const Trace& trace, DeviceId device, std::int64_t used, double rate) {
  const std::optional<std::int64_t> capacity = capacity_of(trace, device);
  if (!capacity) return {};
  return std::max(0.0, static_cast<double>(*capacity - used) / rate);
}

}  // namespace

std::vector<Nanoseconds> step_ends_for_leaks(const Trace& trace, const StepTiming& timing) {
  if (timing.source == StepSource::kWhole) return ends_of_module_calls(trace);
  std::vector<Nanoseconds> ends;
  for (const StepSpan& step : all_steps(timing)) ends.push_back(step.host.end);
  return ends;
}

std::vector<MemoryLeak> memory_leaks(const Trace& trace, DeviceId device, std::span<const UsedBlock> blocks,
                                     const StepTiming& timing, std::int64_t used) {
  const std::vector<Nanoseconds> ends = step_ends_for_leaks(trace, timing);
  if (ends.size() < kLeastStepsOfLeak) return {};
  const std::optional<std::vector<ReferenceChain>> chains = reference_chains(trace);
  std::map<std::uint64_t, const ReferenceChain*> chain_at;
  if (chains)
    for (const ReferenceChain& chain : *chains)
      if (chain.address != 0) chain_at.emplace(chain.address, &chain);
  std::map<std::tuple<std::string, int>, Line> lines;
  std::map<std::tuple<std::string, int>, std::optional<SourceLine>> sources;
  for (const UsedBlock& block : blocks) {
    const std::size_t first = step_of(ends, block.allocated), last = step_of(ends, block.freed);
    const auto chain = last < ends.size() ? chain_at.end() : chain_at.find(block.address);
    if (first == last && chain == chain_at.end()) continue;  // no step ends with it
    const std::optional<SourceLine> source = line_of(trace, block);
    const auto key = source ? std::tuple(source->file, source->line) : std::tuple(std::string(), -1);
    sources[key] = source;
    Line& line = lines[key];
    if (chain != chain_at.end() && line.chain == nullptr) line.chain = chain->second;
    if (first == last) continue;
    line.bytes.resize(ends.size());
    line.blocks.resize(ends.size());
    const auto change = [&](std::size_t step, std::int64_t sign) {
      if (step >= ends.size()) return;
      line.bytes[step] += sign * block.bytes;
      line.blocks[step] += sign;
    };
    if (last > first + 1) {
      change(first + 1, 1);
      change(last, -1);
    }
    if (last < ends.size()) continue;
    if (chains && line.chain == nullptr && line.graph == nullptr)
      line.graph = keeper_of_graph(trace, *chains, block.event);
    line.staying += block.bytes;
    line.by_use[block.use] += block.bytes;
    const EventId maker = maker_of(trace, block.event);
    Made& made = line.by_operator[maker == kNoEvent ? std::string_view() : trace.name(maker)];
    made.bytes += block.bytes;
    made.newest = maker;
  }
  std::vector<MemoryLeak> leaks;
  for (auto& [key, line] : lines) {
    if (line.by_operator.empty()) continue;
    const double rate = growth_of(line);
    if (rate < kLeastLeakPerStep) continue;
    MemoryLeak leak{.device = device,
                    .source = sources[key],
                    .bytes_per_step = rate,
                    .is_per_call = timing.source == StepSource::kWhole,
                    .bytes = line.staying};
    const auto most =
        std::ranges::max_element(line.by_operator, {}, [](const auto& each) { return each.second.bytes; });
    leak.made_by = most->first;
    leak.example = most->second.newest;
    leak.use = std::ranges::max_element(line.by_use, {}, [](const auto& each) { return each.second; })->first;
    if (chains) leak.kept_by = links_of(line);
    leak.steps_to_full = steps_to_full(trace, device, used, rate);
    leaks.push_back(std::move(leak));
  }
  std::ranges::stable_sort(leaks, std::ranges::greater{}, &MemoryLeak::bytes_per_step);
  return leaks;
}

std::vector<MemoryLeak> resident_leaks(const Trace& trace, const StepTiming& timing, double tensors_per_step) {
  const std::vector<Nanoseconds> ends = step_ends_for_leaks(trace, timing);
  std::vector<MemoryLeak> leaks;
  if (ends.size() < kLeastStepsOfLeak) return leaks;
  const LoaderWorkers workers(trace);
  const Counters& counters = trace.counters;
  for (const CounterSeries& series : counters.series) {
    const std::string_view name = trace.strings[series.name];
    if (!name.contains(kResidentMemory) || series.count == 0) continue;
    const std::span times(counters.time.data() + series.first, series.count);
    const std::span values(counters.value.data() + series.first, series.count);
    // The least in each step: what comes and goes within one is read at other times in each. A reading counts once, as
    // steps may be shorter than the time between two.
    std::vector<std::int64_t> levels;
    std::size_t first_step = 0, last_step = 0;
    std::ptrdiff_t seen = 0;
    for (std::size_t step = 0; step < ends.size(); ++step) {
      const auto behind = std::ranges::upper_bound(times, ends[step]) - times.begin();
      if (behind == seen) continue;
      const auto of_step = values.subspan(static_cast<std::size_t>(seen), static_cast<std::size_t>(behind - seen));
      seen = behind;
      if (levels.empty()) first_step = step;
      last_step = step;
      levels.push_back(static_cast<std::int64_t>(std::ranges::min(of_step)));
    }
    if (levels.size() < kLeastReadings || !goes_on(levels)) continue;
    const double growth = growth_of(levels);
    if (growth * static_cast<double>(levels.size()) < kLeastResidentGrowth) continue;
    const auto steps = static_cast<double>(last_step - first_step);
    const double rate = growth * static_cast<double>(levels.size() - 1) / steps;
    const std::string_view process = trace.strings[series.series];
    const bool is_child = is_process_series(process);
    if (!is_child && (rate - tensors_per_step) * steps < kLeastResidentGrowth) continue;
    MemoryLeak leak{.bytes_per_step = rate,
                    .is_per_call = timing.source == StepSource::kWhole,
                    .bytes = levels.back() - levels.front()};
    leak.process.emplace();
    if (is_child) leak.process->child = process;
    leak.process->is_loader_worker = workers.contain(process);
    leak.steps_to_full = steps_to_full(trace, kHost, levels.back(), rate);
    leaks.push_back(std::move(leak));
  }
  return leaks;
}

}  // namespace telltale
