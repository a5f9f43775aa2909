// torch computes with fewer threads than there are processors to spare.
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

// Operators that work on their data for so long on one thread are worth dividing. Below it, threads cost as much as
// they save: products, activations and norms of 10 to 50 µs took 0.4 to 1.3 times as long on two.
constexpr double kLeastWork = 50'000;
// What n times the threads leave of longer ones is n to this power: on a Xeon with 16 processors, products,
// convolutions, norms and elementwise operators took 0.36 to 0.85 times as long on 2 threads (half of them 0.50 to
// 0.64), 0.17 to 0.91 on 4, 0.09 to 0.69 on 8 and 0.04 to 0.76 on 16.
constexpr double kScaling = -0.75;
constexpr double kUncertainty = 0.35;

std::vector<Finding> find(const Facts& facts) {
  const std::optional<HostThreads> host = host_threads(facts);
  if (!host || host->useful_at_least() <= host->threads) return {};
  const double useful = host->useful_at_least();
  const auto left = static_cast<float>(std::pow(useful / host->threads, kScaling));

  const HostCost& cost = facts.host_cost();
  Edit edit = facts.unobserved;
  CallSum divided(facts);
  for (const EventId op : cost.operators()) {
    const float growing = cost.growing_share(op);
    const auto work = static_cast<double>(cost.own_time(op)) * static_cast<double>(growing);
    const OperatorWork& known = cost.known(op).work;
    if (work * host->threads < kLeastWork || (!known.flops && !known.bytes)) continue;
    edit.scale_event(facts.trace, op, 1 - growing * (1 - left));
    divided.add(op, cost.own_time(op));
  }
  const Nanoseconds likely = facts.saved_by(edit);
  if (divided.empty() || likely <= 0) return {};

  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(edit);
  finding.reach = changed_by(facts, edit);
  finding.evidence = divided.longest();
  const double more = useful - host->threads;
  finding.title = fmt::format("torch computes with {} while {} idle", counted(host->threads, "thread"),
                              more == 1 ? "a processor is" : fmt::format("{} processors are", format_number(more)));
  finding.explanation =
      fmt::format("{} are spent in {} that could be divided among {}.", time_and_share(facts, divided.time_per_step()),
                  counted(std::round(divided.calls_per_step()), "operator"), counted(useful, "thread"));
  finding.fix = {"threads",
                 "Let torch use more threads: see where the program calls torch.set_num_threads, or whether "
                 "OMP_NUM_THREADS is set in its environment.",
                 fmt::format("- torch.set_num_threads({})\n+ torch.set_num_threads({})", format_number(host->threads),
                             format_number(useful))};
  return {finding};
}

}  // namespace

Rule rules::few_threads() {
  return {
      {.title = "Fewer threads than processors",
       .looks_for = fmt::format("Without a GPU, operators that work for {} and more on their data while torch has "
                                "fewer threads than there are processors that nothing keeps busy.",
                                format_time(static_cast<Nanoseconds>(kLeastWork))),
       .needs =
           "Shapes, where there is no GPU, in a recording by telltale record: it says how many threads and processors "
           "there are, and how many of these are busy.",
       .cannot_do_without = {{Need::kShapes, Need::kDevice}},
       .saving = fmt::format("The steps are replayed with that work divided among the threads in use and as many more "
                             "as processors are idle; n times the threads take n to the power of {} of the time.",
                             kScaling),
       .held =
           "Fitted on single operators. Of networks on one thread, two threads took 1 to 47 % less (a large encoder "
           "47, a small one 26, linear layers 23 to 36, convolutional networks 34 to 43, a mixer 1), 16 threads up to "
           "89; those of operators of less than 50 µs took up to 41 % more.",
       .fixes = {"threads"}},
      find};
}

}  // namespace telltale
