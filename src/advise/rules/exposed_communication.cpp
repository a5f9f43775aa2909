// The device communicates with others and computes nothing meanwhile.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "advise/rule.h"
#include "analysis/work_class.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// Less is what remains after overlapping: the last bucket of gradients has nothing to hide behind.
constexpr double kLeastExposedPercent = 5;
// Of the communication that could be hidden, how much is. Never measured: one half, and the range says so.
constexpr double kHiddenShare = 0.5;
constexpr double kUncertainty = 0.9;
// Where the replays save less than this of the step, the host sets the pace, and not communication.
constexpr double kLeastSavedPercent = 1;

std::vector<EventId> collectives_of(const Facts& facts) {
  WorkClassifier class_of(facts.trace);
  const Events& events = facts.trace.events;
  std::vector<EventId> collectives;
  for (EventId event = 0; event < events.size(); ++event)
    if (is_device_work(events.kind[event]) && facts.is_in_steps(event) && class_of(event) == WorkClass::kCommunication)
      collectives.push_back(event);
  std::ranges::stable_sort(collectives, std::ranges::greater{}, [&](EventId event) { return events.duration[event]; });
  return collectives;
}

// Only computation can hide communication, and what it hides already counts for that.
double hideable(const Facts& facts) {
  const Communication& communication = facts.diagnosis.communication;
  const Nanoseconds computing = facts.diagnosis.timing.device_period - communication.total_ns;
  return static_cast<double>(std::clamp<Nanoseconds>(computing, 0, communication.exposed_ns));
}

bool is_in_32_bits(const Trace& trace, EventId collective) {
  const CollectiveInfo* info = trace.collectives.find(collective);
  const EventId op = trace.operator_of(collective);
  if (info == nullptr && op != kNoEvent) info = trace.collectives.find(op);
  if (info != nullptr && info->dtype != kEmptyString) return trace.strings[info->dtype] == "Float";
  const std::string_view name = trace.name(collective);
  return name.contains("_f32") || name.contains("_float");
}

// What a step would take less by each way to communicate less, alone.
struct Saved {
  Nanoseconds overlapped = 0, in_larger_buckets = 0, in_16_bits = 0;
  Nanoseconds most() const { return std::max({overlapped, in_larger_buckets, in_16_bits, Nanoseconds{0}}); }
};

class Remedies {
  struct SameName {
    double calls = 0;
    Nanoseconds shortest = 0, total = 0;
  };

 public:
  // `base` is the program without them.
  Remedies(const Facts& facts, const std::vector<EventId>& collectives, Edit base)
      : facts_(facts), collectives_(collectives), base_(std::move(base)) {
    for (const EventId event : collectives) {
      const Nanoseconds taken = facts.trace.events.duration[event];
      SameName& same = by_name_[facts.trace.events.name[event]];
      same.shortest = same.calls == 0 ? taken : std::min(same.shortest, taken);
      same.total += taken;
      ++same.calls;
    }
  }

  Saved replayed() const {
    const Nanoseconds before = facts_.saved_by(base_);
    const auto saved_by = [&](const Edit& edit) { return std::max<Nanoseconds>(0, facts_.saved_by(edit) - before); };
    return {saved_by(overlapped()), saved_by(in_larger_buckets()), saved_by(in_16_bits())};
  }

  // The way that saves most.
  Edit best(const Saved& saved) const {
    if (saved.overlapped == saved.most()) return overlapped();
    return saved.in_larger_buckets == saved.most() ? in_larger_buckets() : in_16_bits();
  }

 private:
  // Half of what computation could hide is hidden.
  Edit overlapped() const {
    const double total = static_cast<double>(std::max<Nanoseconds>(facts_.diagnosis.communication.total_ns, 1));
    const double hidden = kHiddenShare * hideable(facts_) / total;
    return edited([&](EventId, double taken) { return (1 - hidden) * taken; });
  }
  // Half as many collectives, each twice as large: half of their fixed cost remains.
  Edit in_larger_buckets() const {
    return edited([&](EventId event, double taken) { return taken - fixed_cost(event) / 2; });
  }
  // Half of the bytes, where they are in 32 bits.
  Edit in_16_bits() const {
    return edited([&](EventId event, double taken) {
      return is_in_32_bits(facts_.trace, event) ? fixed_cost(event) + (taken - fixed_cost(event)) / 2 : taken;
    });
  }
  // What a collective takes however little it carries: at most what the shortest of its name takes. Not known where all
  // of them take about as long, and of no matter where a step has only one.
  double fixed_cost(EventId event) const {
    const SameName& same = by_name_.at(facts_.trace.events.name[event]);
    if (same.calls < 2 * facts_.steps() ||
        2 * same.calls * static_cast<double>(same.shortest) > static_cast<double>(same.total))
      return 0;
    return static_cast<double>(same.shortest);
  }
  template <typename Left>
  Edit edited(Left left) const {
    Edit edit = base_;
    for (const EventId event : collectives_) {
      const auto taken = static_cast<double>(std::max<Nanoseconds>(facts_.trace.events.duration[event], 1));
      edit.scale_event(facts_.trace, event, static_cast<float>(left(event, taken) / taken));
    }
    return edit;
  }

  const Facts& facts_;
  const std::vector<EventId>& collectives_;
  Edit base_;
  std::unordered_map<StringId, SameName> by_name_;
};

// A host that prepares and launches in no time.
Edit with_fast_host(const Facts& facts) {
  Edit edit = facts.unobserved;
  for (EventId event = 0; event < facts.trace.events.size(); ++event) {
    const HostWork work = facts.host_work[event];
    if (!is_on_device(facts.trace.events.kind[event]) &&
        (work == HostWork::kPython || work == HostWork::kOperators || work == HostWork::kLaunching))
      edit.scale_event(facts.trace, event, 0);
  }
  return edit;
}

std::string in_words(const Saved& saved) {
  const auto amount = [](Nanoseconds time) { return time == 0 ? "nothing" : format_time(time); };
  return fmt::format(
      "hiding half of what computation can hide would save {} per step, buckets twice as large {}, and half as many "
      "bytes {}.",
      amount(saved.overlapped), amount(saved.in_larger_buckets), amount(saved.in_16_bits));
}

std::string what_helps(const Saved& saved, bool waits_for_host) {
  if (!waits_for_host) return "Each by itself, " + in_words(saved);
  if (saved.most() == 0) return "The host sets the pace with work of its own, and less communication saves nothing.";
  return "The host sets the pace, and less communication alone saves nothing; once the host keeps up, " +
         in_words(saved);
}

Fix fix_for(const Facts& facts) {
  if (facts.trains)
    return {"overlap_communication",
            "Reduce gradients in buckets while the backward pass goes on, as DistributedDataParallel does, and fetch "
            "sharded weights before they are needed. Larger buckets make fewer collectives; gradients in bfloat16 are "
            "half as large.",
            "- for p in model.parameters(): dist.all_reduce(p.grad)\n"
            "+ model = DistributedDataParallel(model, gradient_as_bucket_view=True, bucket_cap_mb=50)\n"
            "+ model.register_comm_hook(None, default_hooks.bf16_compress_hook)"};
  return {"overlap_communication",
          "Compute one half of the batch while the other half communicates, send activations in 16 bits or fewer, and "
          "split the model over no more GPUs than it needs.",
          "- dist.all_reduce(y)\n+ work = dist.all_reduce(first, async_op=True)\n+ second = layer(x2)\n+ work.wait()"};
}

std::vector<Finding> find(const Facts& facts) {
  const Communication& communication = facts.diagnosis.communication;
  if (facts.percent_of_step(communication.exposed_ns) < kLeastExposedPercent) return {};
  const std::vector<EventId> collectives = collectives_of(facts);
  if (collectives.empty()) return {};
  const Remedies remedies(facts, collectives, facts.unobserved);
  Saved saved = remedies.replayed();
  const bool waits_for_host = facts.percent_of_step(saved.most()) < kLeastSavedPercent;

  Finding finding;
  if (waits_for_host) {
    saved = Remedies(facts, collectives, with_fast_host(facts)).replayed();
  } else {
    finding.saving = saving_around(facts, saved.most(), kUncertainty);
    finding.edit = facts.kept(remedies.best(saved));
  }
  finding.title = "The GPU communicates instead of computing";
  finding.explanation = fmt::format(
      "Collectives take {} per step, and for {} of that the GPU computes nothing ({} of it overlaps). Most of it is in "
      "{}. {}",
      format_time(communication.total_ns), format_time(communication.exposed_ns),
      format_percent(communication.overlap_percent().value_or(0)),
      communication.rows.empty() ? "one kernel" : communication.rows.front().name, what_helps(saved, waits_for_host));
  finding.confidence = Confidence::kLow;
  finding.evidence = collectives;
  finding.source = source_line(facts.trace, collectives.front());
  finding.fix = fix_for(facts);
  return {finding};
}

}  // namespace

Rule rules::exposed_communication() {
  return {
      {.title = "Communication that nothing hides",
       .looks_for = fmt::format("Collectives during which the GPU computes nothing, for {} % of the step or more.",
                                kLeastExposedPercent),
       .needs = "CUDA activities of one rank. Whether a rank waits for a slower one cannot be seen in its trace alone.",
       .cannot_do_without = {{Need::kDevice}},
       .saving = fmt::format(
           "The best of three replays: with collectives shorter by {:.0f} % of what computation could hide; half as "
           "many of them, each twice as large, where the shortest of a name shows what each costs at least; and those "
           "in 32 bits with half of the bytes. Where the host sets the pace these save nothing yet: then the finding "
           "promises none, and tells what they would save behind a host that launches in no time.",
           100 * kHiddenShare),
       .held = "Never measured: none of our programs runs on several GPUs.",
       .fixes = {"overlap_communication"}},
      find};
}

}  // namespace telltale
