// torch computes with more threads than find a processor.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advise/models/host_cost.h"
#include "advise/models/host_threads.h"
#include "advise/patterns/device_work.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// Where threads outnumber the processors, they sleep between operators. An operator that is divided among them wakes
// one after the other, and each costs the processors a switch and back: on a Xeon, additions, norms and activations of
// 40,000 to 100,000 elements took 2.7 to 8.5 µs longer for each thread, with 4 to 64 threads on 2 to 16 processors, and
// this sum within a quarter of it; on an EPYC with 2 busy processors 11.
constexpr double kWaking = 2'000, kSwitching = 12'000;
// Products and convolutions divide their work more than once: 1 to 3 times, and 2 to 5 times.
constexpr double kTimesOfProduct = 1.7, kTimesOfConvolution = 3;
// What takes long takes longer by this, since threads that share a processor do not end together: 1.1 to 1.9 times.
constexpr double kByTurns = 1.3;
// Less is not divided: products from 64 rows and columns on were, and some elementwise operators from this size on.
constexpr Elements kLeastDivided = 10'000;
constexpr double kLeastDividedFlops = 500'000;
// Where no more threads than processors are told to wait for work, they do so without sleeping. Whoever needs a thread
// that has lost its processor to another program then waits for the kernel's scheduler: on 2 processors with a load of
// 12, products and additions that take 7 to 350 µs on one thread took 16 to 48 ms on two.
constexpr double kSlice = 2'000'000;
// A mended program still shares its processors.
constexpr double kUncertainty = 0.25, kUncertaintyBesideOthers = 0.7;

// What an operator takes with threads that all have a processor; nothing where its arguments do not say.
std::optional<HostTimes> undisturbed(const HostOperator& op, double threads) {
  const bool is_double = op.type == NumberType::kDouble;
  if ((!op.work.flops && !op.work.bytes) || (!is_double && op.type != NumberType::kFloat)) return {};
  return host_times(op.work.flops.value_or(0) * (is_double ? 2 : 1), op.work.bytes.value_or(0), threads);
}

bool is_divided(const HostOperator& op) {
  return op.largest >= kLeastDivided || op.work.flops.value_or(0) >= kLeastDividedFlops;
}

bool has_waited(double now, const std::optional<HostTimes>& times) { return times && now > times->typical + kSlice; }

// How much longer operators take that are not divided: others take processors from a single thread too.
double stretch_of_undivided(const HostCost& cost) {
  double all = 0, waited = 0;
  for (const EventId op : cost.operators()) {
    const HostOperator& known = cost.known(op);
    if (is_divided(known)) continue;
    const auto now = static_cast<double>(cost.own_time(op));
    const std::optional<HostTimes> times = undisturbed(known, 1);
    all += now;
    if (has_waited(now, times)) waited += now - times->typical;
  }
  return all > waited ? all / (all - waited) : 1;
}

class Mending {
 public:
  Mending(const Facts& facts, const HostThreads& host)
      : facts_(facts),
        host_(host),
        useful_(host.useful_at_most()),
        waking_(host.threads * (kWaking + kSwitching / useful_)),
        edit_(facts.unobserved),
        slow_(facts) {
    const HostCost& cost = facts.host_cost();
    stretch_ = std::max(stretch_of_undivided(cost), 1 / host.share_of_thread);
    for (const EventId op : cost.operators()) mend(op, cost.own_time(op), cost.known(op));
  }

  const Edit& edit() const { return edit_; }
  const CallSum& slow() const { return slow_; }

 private:
  void mend(EventId op, Nanoseconds own, const HostOperator& known) {
    if (!is_divided(known)) return;
    const auto now = static_cast<double>(own);
    const std::optional<HostTimes> times = undisturbed(known, useful_);
    double then = now;
    if (host_.threads > host_.processors)
      then = awake(op, known, now, times);
    else if (has_waited(now, times))
      then = stretch_ * times->typical;
    if (then >= now) return;
    edit_.scale_event(facts_.trace, op, static_cast<float>(then / now));
    slow_.add(op, own);
  }

  // Without waking more threads than have a processor.
  double awake(EventId op, const HostOperator& known, double now, const std::optional<HostTimes>& times) const {
    if (now < waking_) return now;  // it computed on one thread
    const double divided = is_convolution(facts_.trace.name(op)) ? kTimesOfConvolution
                           : known.work.flops                    ? kTimesOfProduct
                                                                 : 1;
    const double then = std::max(0.0, now - divided * waking_) / kByTurns;
    return times ? std::clamp(then, std::min(times->least, now), std::max(times->least, times->typical)) : then;
  }

  const Facts& facts_;
  const HostThreads& host_;
  double useful_, waking_, stretch_ = 1;
  Edit edit_;
  CallSum slow_;
};

std::string who_is_busy(const HostThreads& host) {
  if (host.by_others < 0.5) return "the workers that load data";
  return host.by_workers < 0.5 ? "other programs" : "other programs and the workers that load data";
}

void describe(const Facts& facts, const HostThreads& host, const CallSum& slow, Finding& finding) {
  const double useful = host.useful_at_most();
  const std::string slow_ones =
      fmt::format("{} in {}", time_and_share(facts, std::min(slow.time_per_step(), facts.step)),
                  counted(std::max(1.0, std::round(slow.calls_per_step())), "operator"));
  if (host.threads > host.processors) {
    finding.title = fmt::format("torch computes with {} on {}", counted(host.threads, "thread"),
                                counted(host.processors, "processor"));
    finding.explanation = fmt::format(
        "Each operator that is divided among threads wakes all of them, and waits for the last one: {}.", slow_ones);
    if (useful < host.processors)
      finding.explanation +=
          fmt::format(" {} of the processors {} kept busy by {}.", format_number(host.processors - useful),
                      host.processors - useful == 1 ? "is" : "are", who_is_busy(host));
  } else {
    finding.title = fmt::format("torch's {} threads do not find as many processors", format_number(host.threads));
    finding.explanation = fmt::format(
        "Of {}, {} keep {} busy. An operator that is divided among threads waits for those that have lost their "
        "processor: {}.",
        counted(host.processors, "processor"), who_is_busy(host), format_number(host.by_others + host.by_workers),
        slow_ones);
  }
  finding.fix = {"threads",
                 "Give torch as many threads as it has processors to itself; OMP_NUM_THREADS in the environment says "
                 "how many it starts with.",
                 fmt::format("+ torch.set_num_threads({})", format_number(useful))};
}

std::vector<Finding> find(const Facts& facts) {
  const std::optional<HostThreads> host = host_threads(facts);
  if (!host || host->threads <= host->useful_at_most()) return {};
  const Mending mending(facts, *host);
  const Nanoseconds likely = facts.saved_by(mending.edit());
  if (mending.slow().empty() || likely <= 0) return {};

  const bool has_others = host->useful_at_most() < host->processors;
  Finding finding;
  finding.saving = saving_around(facts, likely, has_others ? kUncertaintyBesideOthers : kUncertainty);
  finding.edit = facts.kept(mending.edit());
  finding.confidence = has_others ? Confidence::kLow : Confidence::kMedium;
  finding.reach = changed_by(facts, mending.edit());
  finding.evidence = mending.slow().longest();
  describe(facts, *host, mending.slow(), finding);
  return {finding};
}

}  // namespace

Rule rules::many_threads() {
  return {
      {.title = "More threads than processors",
       .looks_for = fmt::format(
           "Without a GPU, torch with more threads than the program may use processors; or with more than other "
           "programs and its own workers leave free, and operators that take {} longer than their shapes explain.",
           format_time(static_cast<Nanoseconds>(kSlice))),
       .needs =
           "Shapes, where there is no GPU, in a recording by telltale record: it says how many threads and processors "
           "there are.",
       .cannot_do_without = {{Need::kShapes, Need::kDevice}},
       .saving = fmt::format(
           "The steps are replayed without what waking threads costs divided operators: {} for each thread, and {} for "
           "each thread of a processor; {} times for products and {} times for convolutions. The rest was {:.0f} % "
           "slower. No operator takes longer than its shapes at {:.0f} billion operations and {:.0f} billion bytes per "
           "second and thread. Where others take the processors, operators take as long as that, and longer by what a "
           "single thread loses to others as well.",
           format_time(static_cast<Nanoseconds>(kWaking)), format_time(static_cast<Nanoseconds>(kSwitching)),
           kTimesOfProduct, kTimesOfConvolution, 100 * (kByTurns - 1), HostTimes::kTypicalFlops / 1e9,
           HostTimes::kTypicalBytes / 1e9),
       .held =
           "Fitted on single operators. A network of 123 divided operators with 16 threads on 2 processors, recorded "
           "while others kept one of them busy, was promised 60 % (18 to 100); on an idle machine it gained 68. Six "
           "programs with a thread for each of 2 processors, at a load of 8 to 15, were promised 83, 73, 73, 56, 52 "
           "and 18 %; with one thread their whole runs, start-up included, took 71, 70, 21, 79, 35 and 29 % less.",
       .fixes = {"threads"}},
      find};
}

}  // namespace telltale
