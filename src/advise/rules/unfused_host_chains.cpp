// Elementwise operators in a row on a CPU, each of which passes large tensors through memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <utility>

#include "advise/models/host_cost.h"
#include "advise/patterns/changing_shapes.h"
#include "advise/patterns/device_work.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// What a compiled chain leaves of operators that only move memory, beside one pass over it: as long as the longest of
// them. Seven chains of 3 to 16 operators, most with their backward passes, on 200,000 to 2,000,000 elements took 0.19
// to 0.43 of their time on one thread of an EPYC 9004; by the times of single operators, this is off by at most 0.08.
constexpr float kLeftOfMoving = 0.15F;
// Of functions that torch computes at less than its compiler's speed (exp, sqrt). Others (sin, tanh) take as long.
constexpr float kLeftOfSlowFunctions = 0.4F;
// What checking guards and calling compiled code costs a step, with room for several calls: a fused chain of 20,000
// elements took 15 µs longer than without compiling forward, and 35 to 41 with its backward pass.
constexpr Nanoseconds kGuardsOfTraining = 150'000, kGuardsOfInference = 40'000;
constexpr Elements kLeastElements = 50'000;
constexpr std::size_t kLeastOperators = 3;
// Below this, compile time and the risk of a break are not worth it.
constexpr double kLeastPercent = 5;
constexpr double kUncertainty = 0.3;
// An operator of unknown work that takes longer than this ends a chain.
constexpr Nanoseconds kShortest = 20'000;

// All sorted.
constexpr auto kMovingOperators = std::to_array<std::string_view>({"abs",
                                                                   "add",
                                                                   "addcdiv",
                                                                   "addcmul",
                                                                   "clamp",
                                                                   "clamp_max",
                                                                   "clamp_min",
                                                                   "div",
                                                                   "eq",
                                                                   "ge",
                                                                   "gt",
                                                                   "hardtanh",
                                                                   "le",
                                                                   "leaky_relu",
                                                                   "leaky_relu_backward",
                                                                   "lerp",
                                                                   "lt",
                                                                   "masked_fill",
                                                                   "maximum",
                                                                   "mean",
                                                                   "minimum",
                                                                   "mul",
                                                                   "ne",
                                                                   "neg",
                                                                   "reciprocal",
                                                                   "relu",
                                                                   "rsub",
                                                                   "sgn",
                                                                   "sigmoid_backward",
                                                                   "sign",
                                                                   "square",
                                                                   "sub",
                                                                   "sum",
                                                                   "tanh_backward",
                                                                   "threshold_backward",
                                                                   "where"});
constexpr auto kSlowFunctions = std::to_array<std::string_view>({"exp", "rsqrt", "sqrt"});
constexpr auto kOtherFunctions =
    std::to_array<std::string_view>({"cos", "elu", "erf", "gelu", "gelu_backward", "log", "log1p", "pow", "sigmoid",
                                     "silu", "silu_backward", "sin", "softplus", "tanh"});

enum class Part : std::uint8_t { kNone, kMoving, kSlowFunction, kFunction };

Part part_of(std::string_view name) {
  constexpr std::string_view kNamespace = "aten::";
  if (!name.starts_with(kNamespace)) return Part::kNone;
  name.remove_prefix(kNamespace.size());
  if (name.ends_with('_')) name.remove_suffix(1);
  if (std::ranges::binary_search(kMovingOperators, name)) return Part::kMoving;
  if (std::ranges::binary_search(kSlowFunctions, name)) return Part::kSlowFunction;
  return std::ranges::binary_search(kOtherFunctions, name) ? Part::kFunction : Part::kNone;
}

bool is_compiled_mark(std::string_view name) {
  return name.starts_with("Torch-Compiled Region") || name.starts_with("## Call CompiledFxGraph") ||
         name == "CompiledFunction";
}

struct HostChain {
  std::vector<EventId> moving, slow_functions;
  Nanoseconds total = 0, longest = 0;  // of those that only move memory
};

class HostChains {
 public:
  explicit HostChains(const Facts& facts)
      : facts_(facts), cost_(facts.host_cost()), edit_(facts.unobserved), moving_(facts) {
    edit_.added_host_ns = facts.trains ? kGuardsOfTraining : kGuardsOfInference;
    find_chains();
  }

  const Edit& edit() const { return edit_; }
  const CallSum& moving() const { return moving_; }
  double chains_per_step() const { return chains_ / facts_.steps(); }
  // The first operator of the longest chain; of one in the forward pass, where there is one: it has a line.
  EventId first_of_longest() const { return first_of_longest_; }

 private:
  // Runs of operators on tensors of one size, between others that compute.
  void find_chains() {
    const Trace& trace = facts_.trace;
    std::map<Elements, HostChain> run;
    EventId last = kNoEvent;
    const std::vector<Part> parts = parts_by_name();
    const auto end_run = [&] {
      for (const auto& [elements, chain] : run) fuse(chain);
      run.clear();
    };
    for (const EventId op : cost_.operators()) {
      const Part part = parts[trace.events.name[op]];
      const HostOperator& known = cost_.known(op);
      const bool is_elsewhere = last != kNoEvent && !are_together(last, op);
      const bool computes = known.work.flops.has_value() || cost_.own_time(op) > kShortest;
      if (is_elsewhere || (part == Part::kNone && computes) || facts_.phases[op] == Phase::kOptimizer) end_run();
      if (part == Part::kNone || facts_.phases[op] == Phase::kOptimizer) continue;
      last = op;
      if (known.largest >= kLeastElements) add(op, part, run[known.largest]);
    }
    end_run();
  }

  std::vector<Part> parts_by_name() const {
    const InternedStrings& names = facts_.trace.strings;
    std::vector<Part> parts(names.size());
    for (StringId name = 0; name < names.size(); ++name) parts[name] = part_of(names[name]);
    return parts;
  }

  bool are_together(EventId one, EventId other) const {
    const Events& events = facts_.trace.events;
    const StepTiming& timing = facts_.diagnosis.timing;
    return events.track[one] == events.track[other] && facts_.phases[one] == facts_.phases[other] &&
           step_at(timing, events.start[one]) == step_at(timing, events.start[other]);
  }

  void add(EventId op, Part part, HostChain& chain) const {
    if (part == Part::kSlowFunction) chain.slow_functions.push_back(op);
    if (part != Part::kMoving) return;
    chain.moving.push_back(op);
    chain.total += cost_.own_time(op);
    chain.longest = std::max(chain.longest, cost_.own_time(op));
  }

  void fuse(const HostChain& chain) {
    if (chain.moving.size() < kLeastOperators || chain.total <= 0) return;
    ++chains_;
    const bool is_backward = facts_.phases[chain.moving.front()] == Phase::kBackward;
    if (std::pair(!is_backward, chain.total) > longest_) {
      longest_ = {!is_backward, chain.total};
      first_of_longest_ = chain.moving.front();
    }
    const float left = kLeftOfMoving + static_cast<float>(chain.longest) / static_cast<float>(chain.total);
    for (const EventId op : chain.moving) {
      edit_.scale_event(facts_.trace, op, std::min(1.0F, left));
      scale_autograd(op);
      moving_.add(op, cost_.own_time(op));
    }
    for (const EventId op : chain.slow_functions) edit_.scale_event(facts_.trace, op, kLeftOfSlowFunctions);
  }

  // What autograd spends around an operator that is no longer called.
  void scale_autograd(EventId op) {
    const Trace& trace = facts_.trace;
    for (EventId around = trace.events.parent[op]; around != kNoEvent && trace.events.kind[around] == Kind::kOperator;
         around = trace.events.parent[around])
      if (trace.name(around).contains("Backward")) edit_.scale_event(trace, around, kLeftOfMoving);
  }

  const Facts& facts_;
  const HostCost& cost_;
  Edit edit_;
  CallSum moving_;
  double chains_ = 0;
  std::pair<bool, Nanoseconds> longest_;  // whether it is none of the backward pass, and what it takes
  EventId first_of_longest_ = kNoEvent;
};

Fix fix_for(const std::optional<SourceLine>& source) {
  const auto is_letter = [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_'; };
  const bool is_named = source && source->function != "main" && !source->function.empty() &&
                        std::ranges::all_of(source->function, is_letter);
  return {"compile",
          "Compile the function that computes them: what one operator writes and the next one reads then "
          "stays in registers.",
          fmt::format("+ {0} = torch.compile({0})", is_named ? source->function : "compute")};
}

std::vector<Finding> find(const Facts& facts) {
  if (facts.diagnosis.breakdown.has_device) return {};
  const std::vector<bool> is_mark = names_where(facts.trace, is_compiled_mark);
  if (std::ranges::find(is_mark, true) != is_mark.end()) return {};
  const HostChains chains(facts);
  if (chains.moving().empty() || has_new_shapes_at_every_call(facts)) return {};
  const Nanoseconds likely = facts.saved_by(chains.edit());
  if (facts.percent_of_step(likely) < kLeastPercent) return {};

  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(chains.edit());
  finding.reach = changed_by(facts, chains.edit());
  finding.evidence = chains.moving().longest();
  finding.source = source_line(facts.trace, chains.first_of_longest());
  finding.title = "Elementwise operators pass large tensors through memory one by one";
  finding.explanation = fmt::format(
      "{} in {} per step each read what the one before wrote: {}. Compiled, a chain passes over its tensors once.",
      counted(std::round(chains.moving().calls_per_step()), "operator"), counted(chains.chains_per_step(), "chain"),
      time_and_share(facts, chains.moving().time_per_step()));
  finding.fix = fix_for(finding.source);
  return {finding};
}

}  // namespace

Rule rules::unfused_host_chains() {
  return {
      {.title = "Chains of elementwise operators on a CPU",
       .looks_for = fmt::format("Without a GPU, {} or more elementwise operators in a row on tensors of one size, of "
                                "{} elements or more. Programs that are already compiled are left out.",
                                kLeastOperators, format_count(static_cast<std::int64_t>(kLeastElements))),
       .needs = "Shapes, where there is no GPU.",
       .cannot_do_without = {{Need::kShapes, Need::kDevice}},
       .saving = fmt::format(
           "The steps are replayed with {:.0f} % of the time of operators that only move memory, and once more the "
           "longest of a chain; with {:.0f} % of exp and sqrt; and with all of other functions, norms and "
           "products. Calling compiled code costs a step {}, or {} without a backward pass.",
           100 * kLeftOfMoving, 100 * kLeftOfSlowFunctions, format_time(kGuardsOfTraining),
           format_time(kGuardsOfInference)),
       .held = "Fitted on seven chains. A simulation that compiles to 64 % less, recorded on a busy machine, was "
               "promised 57. "
               "Networks of which products and norms take most gained nothing (a mixer lost 7 %), and are promised "
               "nothing.",
       .fixes = {"compile"}},
      find};
}

}  // namespace telltale
