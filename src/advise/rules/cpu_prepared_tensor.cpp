// Data that the host converts and computes on, operator by operator, right before it copies it to the device.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <ranges>
#include <string_view>
#include <vector>

#include "advise/models/host_cost.h"
#include "advise/patterns/copied_tensors.h"
#include "advise/patterns/device_work.h"
#include "advise/patterns/freed_memory.h"
#include "advise/rule.h"
#include "base/amounts.h"
#include "trace/shapes.h"

namespace telltale {
namespace {

// An operator on a tensor of the host, as its arguments describe it.
struct Work {
  EventId op = kNoEvent;
  double element_bytes = 0;  // of what it reads
};

// A tensor that the host was given, has computed on and then copies to the device.
struct Prepared {
  std::vector<Work> work;
  EventId copied_by = kNoEvent;  // the whole call that copies it, see copying_call()
  EventId copy = kNoEvent;       // on the device
  Elements elements = 0;
  double bytes = 0;  // copied

  double raw_bytes() const { return elements * work.front().element_bytes; }
};

// What computes a tensor of as many elements, and could as well on the device.
constexpr auto kComputing = std::to_array<std::string_view>({
    "aten::abs",   "aten::add",   "aten::add_",       "aten::addcdiv", "aten::addcmul", "aten::bitwise_and",
    "aten::clamp", "aten::clone", "aten::contiguous", "aten::clamp_",  "aten::cos",     "aten::div",
    "aten::div_",  "aten::exp",   "aten::flip",       "aten::float",   "aten::log",     "aten::log1p",
    "aten::mul",   "aten::mul_",  "aten::neg",        "aten::pow",     "aten::relu",    "aten::roll",
    "aten::round", "aten::rsub",  "aten::sigmoid",    "aten::sin",     "aten::sqrt",    "aten::sub",
    "aten::sub_",  "aten::tanh",  "aten::to",         "aten::where",
});
// What leaves the numbers as they are, and where they are.
constexpr auto kPassing = std::to_array<std::string_view>({
    "aten::alias",
    "aten::detach",
    "aten::detach_",
    "aten::is_pinned",
    "aten::lift_fresh",
    "aten::movedim",
    "aten::permute",
    "aten::pin_memory",
    "aten::reshape",
    "aten::squeeze",
    "aten::transpose",
    "aten::unsqueeze",
    "aten::view",
});

enum class Role : std::uint8_t { kOther, kComputes, kPasses, kFills };

std::vector<Role> role_by_name(const Trace& trace) {
  std::vector<Role> roles(trace.strings.size(), Role::kOther);
  for (StringId name = 0; name < roles.size(); ++name) {
    const std::string_view op = trace.strings[name];
    if (std::ranges::find(kComputing, op) != kComputing.end()) roles[name] = Role::kComputes;
    if (std::ranges::find(kPassing, op) != kPassing.end()) roles[name] = Role::kPasses;
    if (fills_tensor(op)) roles[name] = Role::kFills;
  }
  return roles;
}

// The largest tensor among the arguments of an operator.
struct Argument {
  Elements elements = 0;
  double element_bytes = 0;
};

Argument largest_argument(const Trace& trace, EventId op) {
  const OperatorArguments arguments(texts_of(trace, op));
  Argument largest;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (!arguments.shape(i).empty() && elements_of(arguments.shape(i)) > largest.elements)
      largest = {elements_of(arguments.shape(i)), static_cast<double>(arguments.element_bytes(i))};
  return largest;
}

// Goes over the calls of one thread, and follows what the host computes, by the number of its elements: that stays
// through views and other layouts.
class Search {
 public:
  Search(const Facts& facts, std::vector<Prepared>& found)
      : facts_(facts), roles_(role_by_name(facts.trace)), found_(found) {}

  void walk(const std::vector<TensorCall>& calls) {
    chains_.clear();
    for (const TensorCall& call : calls) {
      if (call.copy != kNoEvent)
        take_copy(call);
      else
        take_operator(call);
    }
  }

 private:
  struct Chain {
    std::vector<Work> work;
    bool is_filled = false;  // by the host, which is cpu_built_tensor's to say
  };

  void take_operator(const TensorCall& call) {
    if (!facts_.launched.of_range(call.call, call.end).empty()) return chains_.clear();  // the device has come between
    const Role role = roles_[facts_.trace.events.name[call.call]];
    if (role == Role::kPasses) return;
    const Argument argument = largest_argument(facts_.trace, call.call);
    if (role == Role::kComputes && argument.elements > 0) {
      chains_[argument.elements].work.push_back({call.call, argument.element_bytes});
      return;
    }
    // What else makes such a tensor, or writes into it, is the host's; what computes on it later may still move.
    const Shape shape = shape_in(facts_.trace, call);
    if (!shape.empty()) chains_.insert_or_assign(elements_of(shape), Chain{{}, role == Role::kFills});
  }

  void take_copy(const TensorCall& call) {
    const Shape shape = shape_in(facts_.trace, call);
    const auto chain = shape.empty() ? chains_.end() : chains_.find(elements_of(shape));
    if (chain == chains_.end()) return;
    const CopyInfo* const copied = facts_.trace.copies.find(call.copy);
    auto& [work, is_filled] = chain->second;
    const bool is_long = std::ranges::any_of(work, [&](const Work& each) { return is_computed(each.op); });
    if (copied != nullptr && copied->bytes > 0 && is_long && !is_filled)
      found_.push_back({std::move(work), call.call, call.copy, chain->first, static_cast<double>(copied->bytes)});
    chains_.erase(chain);
  }

  // No mere dispatch, itself or within.
  bool is_computed(EventId op) const {
    for (EventId event = op; event < subtree_end(facts_.trace, op); ++event)
      if (facts_.computes_on_host(event)) return true;
    return false;
  }

  const Facts& facts_;
  std::vector<Role> roles_;  // by name
  std::vector<Prepared>& found_;
  std::map<Elements, Chain> chains_;
};

std::vector<Prepared> prepared_tensors(const Facts& facts) {
  std::vector<Prepared> found;
  Search search(facts, found);
  for (const std::vector<TensorCall>& calls : tensor_calls(facts)) search.walk(calls);
  return found;
}

// What an operator costs the host that only launches a kernel.
constexpr float kLaunchingOperator = 10'000;
// Kernels that only move memory reach this share of its bandwidth, and take at least this long.
constexpr double kReachedBandwidth = 0.85;
constexpr double kShortestKernel = 4e3;
// Bytes per nanosecond where the device's own are not known.
constexpr double kUnknownBandwidth = 1e3;
constexpr double kUncertainty = 0.3;

// What the device takes for what the host did, in nanoseconds: each operator reads one type and writes the next one's.
double device_time(const Facts& facts, const Prepared& tensor) {
  const auto& peaks = facts.diagnosis.kernels.peaks;
  const double bandwidth = kReachedBandwidth * (peaks ? peaks->memory_bytes / 1e9 : kUnknownBandwidth);
  double time = 0;
  for (std::size_t i = 0; i < tensor.work.size(); ++i) {
    const double written =
        i + 1 < tensor.work.size() ? tensor.elements * tensor.work[i + 1].element_bytes : tensor.bytes;
    time += std::max(kShortestKernel, (tensor.elements * tensor.work[i].element_bytes + written) / bandwidth);
  }
  return time;
}

// What operators make in place of their argument is not freed behind them.
bool makes_a_tensor(std::string_view op) { return !op.ends_with('_'); }

// Time in which what was made on the way is freed, by the call whose own time it is part of.
std::map<EventId, Nanoseconds> freeing(const Facts& facts, const std::vector<Prepared>& tensors) {
  std::map<EventId, Nanoseconds> times;
  const auto add_behind = [&](EventId call) {
    if (const std::optional<FreedMemory> freed = freed_behind(facts, call)) times[freed->within] += freed->time;
  };
  for (const Prepared& tensor : tensors) {
    for (const Work& work : tensor.work | std::views::drop(1))  // the first one reads what the host was given
      if (makes_a_tensor(facts.trace.name(work.op))) add_behind(work.op);
    add_behind(tensor.copied_by);
  }
  return times;
}

// The host copies what it was given, and launches kernels that compute the rest. What it made on the way need not be
// freed.
Edit prepared_on_device(const Facts& facts, const std::vector<Prepared>& tensors) {
  const Trace& trace = facts.trace;
  Edit edit = facts.unobserved;
  double on_device = 0;
  for (const Prepared& tensor : tensors) {
    for (const Work& work : tensor.work) {
      const auto taken = static_cast<float>(std::max<Nanoseconds>(trace.events.duration[work.op], 1));
      edit.scale_subtree(trace, facts.launched, work.op, std::min(1.0F, kLaunchingOperator / taken), 1);
    }
    const auto left = static_cast<float>(std::min(1.0, tensor.raw_bytes() / tensor.bytes));
    edit.scale_event(trace, tensor.copy, left);
    edit.scale_event(trace, trace.launch_of(tensor.copy), left);
    on_device += device_time(facts, tensor);
  }
  for (const auto& [call, time] : freeing(facts, tensors)) {
    const auto own = static_cast<float>(std::max(facts.host_cost().own_time(call), time));
    edit.scale_event(trace, call, 1 - static_cast<float>(time) / own);
  }
  edit.added_device_ns += static_cast<Nanoseconds>(on_device / facts.steps());
  return edit;
}

// "36.8 MiB per step are copied, which were 9.19 MiB before", for a second sentence.
std::string bytes_text(double bytes, double raw) {
  if (raw >= bytes) return fmt::format("{} per step are copied", format_bytes(bytes));
  return fmt::format("{} per step are copied, which were {} before", format_bytes(bytes), format_bytes(raw));
}

// ", and freeing what they made 6.10 ms", where Python does for a while.
std::string freed_text(const Facts& facts, Nanoseconds freed) {
  if (freed == 0) return {};
  return fmt::format(", and freeing what they made {}",
                     format_time(static_cast<Nanoseconds>(static_cast<double>(freed) / facts.steps())));
}

std::vector<Finding> find(const Facts& facts) {
  const std::vector<Prepared> tensors = prepared_tensors(facts);
  if (tensors.empty()) return {};
  const Edit edit = prepared_on_device(facts, tensors);
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};

  Finding finding;
  CallSum sum(facts);
  std::map<StringId, Nanoseconds> by_name;
  double bytes = 0, raw = 0, on_device = 0;
  for (const Prepared& tensor : tensors) {
    for (const Work& work : tensor.work) {
      sum.add(work.op);
      by_name[facts.trace.events.name[work.op]] += facts.trace.events.duration[work.op];
    }
    bytes += tensor.bytes;
    raw += std::min(tensor.bytes, tensor.raw_bytes());
    on_device += device_time(facts, tensor);
  }
  Nanoseconds freed = 0;
  for (const auto& [call, time] : freeing(facts, tensors)) freed += time;
  const auto most = std::ranges::max_element(by_name, {}, [](const auto& named) { return named.second; });
  finding.evidence = sum.longest();
  finding.source = source_line(facts.trace, finding.evidence.front());
  finding.title = "Inputs are prepared on the CPU, then copied to the GPU";
  finding.explanation = fmt::format(
      "Operators on the CPU, mostly {}, take {} per recorded step{}; the GPU would take about {} for the same. {}.",
      facts.trace.strings[most->first], format_time(sum.time_per_step()), freed_text(facts, freed),
      format_time(static_cast<Nanoseconds>(on_device / facts.steps())),
      bytes_text(bytes / facts.steps(), raw / facts.steps()));
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(edit);
  finding.reach = changed_by(facts, edit);
  finding.fix = {"build_on_device",
                 "Copy the data as it comes, and convert and compute it on the GPU; or let a loader's workers do it "
                 "ahead of time.",
                 "- x = (torch.from_numpy(raw).float() / 255 - 0.5).to(device)\n"
                 "+ x = torch.from_numpy(raw).to(device).float() / 255 - 0.5"};
  return {finding};
}

}  // namespace

Rule rules::cpu_prepared_tensor() {
  return {{.title = "Inputs prepared on the CPU, in the step",
           .looks_for = "Operators that convert or compute on a tensor of the CPU (to, div, sub, flip and the like), "
                        "one of them for longer than a dispatch takes, before it is copied to the GPU. What the "
                        "workers of a data loader do does not count.",
           .needs = "CPU and CUDA activities and shapes; stacks for the source line.",
           .cannot_do_without = {{Need::kDevice}, {Need::kShapes}},
           .saving = fmt::format(
               "The steps are replayed with operators that launch a kernel instead of computing, with a copy of as "
               "many bytes as the data had before it was converted, and with what the kernels take at {:.0f} % of the "
               "GPU's bandwidth. Python's time behind an operator that read 32 MiB or more counts as freeing that "
               "memory, and is left out.",
               100 * kReachedBandwidth),
           .held = "A program that converted and normalized its images in the step was promised 66 % (46 to 86) and "
                   "gained 73, with the copy from pinned memory as well.",
           .fixes = {"build_on_device"}},
          find};
}

}  // namespace telltale
