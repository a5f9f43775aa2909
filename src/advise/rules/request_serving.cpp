// Requests that wait for each other: for a lock, for the event loop, for processors, or since each is computed alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advise/patterns/lock_holders.h"
#include "advise/rule.h"
#include "analysis/requests.h"
#include "base/amounts.h"
#include "trace/recording_facts.h"

namespace telltale {
namespace {

// Of the time that requests take: less waiting for a lock is what any server has.
constexpr double kLeastLocked = 0.1;
// Requests at once, on average while there is any, from which on they get in each other's way.
constexpr double kLeastAtOnce = 1.5;
// Of the threads that serve, in percent: less leaves time to serve more without batches.
constexpr double kBusyThreads = 70;

// "calls of Net" or, where a request makes several, "calls of generate"
std::string calls_of(const Requests& requests) { return "calls of " + requests.name; }

// Whether a wait stands in a function of the user's: the queue of a pool waits in the library's.
bool is_in_users_code(const Trace& trace, EventId wait) {
  const EventId around = trace.events.parent[wait];
  const auto frame = around == kNoEvent ? std::nullopt : parsed_frame(trace.name(around));
  return frame && owner_of(frame->file) == CodeOwner::kUser;
}

// Waits for a lock of the user's on one of the threads that serve, while another one is in a request.
std::vector<EventId> waits_for_turn(const Trace& trace, const Requests& requests) {
  std::vector<EventId> waits;
  for (const TrackId id : requests.threads) {
    std::vector<Interval> of_others;
    for (const EventId event : requests.events)
      if (trace.events.track[event] != id) of_others.push_back({trace.events.start[event], trace.events.end(event)});
    of_others = united(std::move(of_others));
    const Track& thread = trace.tracks[id];
    for (EventId event = thread.first_event; event < thread.first_event + thread.event_count; ++event) {
      if (awaited_in(trace.name(event)) != "lock" || !is_in_users_code(trace, event)) continue;
      const auto other = std::ranges::upper_bound(of_others, trace.events.start[event], {}, &Interval::end);
      if (other != of_others.end() && other->begin < trace.events.end(event)) waits.push_back(event);
    }
  }
  std::ranges::stable_sort(waits, std::ranges::greater{}, [&](EventId wait) { return trace.events.duration[wait]; });
  return waits;
}

// Of the time that is waited for a lock, that in which its holder only waits: from there on, taking the lock later is
// what helps.
constexpr double kMostlyIdle = 0.5;
constexpr double kUncertaintyOfLock = 0.3;

// A lock whose holder waits for something else: what is left of the waits is what it computes under the lock.
void advise_to_wait_outside(const Facts& facts, const IdleHolding& holding, Nanoseconds waited, Finding& finding) {
  Edit edit = facts.unobserved;
  for (std::size_t i = 0; i < finding.evidence.size(); ++i) {
    const auto whole = static_cast<double>(facts.trace.events.duration[finding.evidence[i]]);
    edit.scale_event(facts.trace, finding.evidence[i],
                     static_cast<float>(1 - static_cast<double>(holding.idle[i]) / std::max(whole, 1.0)));
  }
  finding.saving = saving_around(facts, std::max<Nanoseconds>(0, facts.saved_by(edit)), kUncertaintyOfLock);
  finding.edit = facts.kept(edit);
  finding.title = "Requests take turns: a lock is held while its holder waits";
  finding.explanation += fmt::format(
      " For {} of that time, whoever holds it waits for {}{}.",
      format_percent(100 * static_cast<double>(holding.total) / static_cast<double>(std::max<Nanoseconds>(waited, 1))),
      phrase_of(holding.what), holding.source ? " at " + short_place(*holding.source) : "");
  finding.fix = {
      "shorten_lock", "Wait first and take the lock then: hold it only while shared data is read or written.",
      "- with lock:\n-     row = fetch(); answer = use(row)\n+ row = fetch()\n+ with lock:\n+     answer = use(row)"};
}

void find_lock(const Facts& facts, const Requests& requests, std::vector<Finding>& findings) {
  if (requests.threads.size() < 2) return;
  Finding finding;
  finding.evidence = waits_for_turn(facts.trace, requests);
  Nanoseconds waited = 0;
  for (const EventId wait : finding.evidence) waited += facts.trace.events.duration[wait];
  if (static_cast<double>(waited) < kLeastLocked * static_cast<double>(requests.total_ns)) return;
  finding.title = "Requests take turns: the model is called under a lock";
  finding.explanation = fmt::format(
      "{} serve, but wait for a lock while another one is served, for {} per request; the computing takes {} (p50).",
      counted(static_cast<double>(requests.threads.size()), "thread"),
      format_time(waited / static_cast<Nanoseconds>(requests.events.size())), format_time(requests.p50_ns));
  finding.confidence = Confidence::kMedium;
  finding.source = source_line(facts.trace, finding.evidence.front());
  finding.fix = {"other",
                 "A model that only answers changes nothing, and needs no lock: guard only what does change. Where one "
                 "call keeps all processors busy, let a single thread take all requests that wait and compute them as "
                 "one batch.",
                 "- with lock:\n-     y = model(x)\n+ y = model(x)"};
  const IdleHolding holding = idle_holding(facts.trace, finding.evidence);
  if (static_cast<double>(holding.total) >= kMostlyIdle * static_cast<double>(waited))
    advise_to_wait_outside(facts, holding, waited, finding);
  findings.push_back(std::move(finding));
}

void find_blocked_loop(const Facts& facts, const Requests& requests, std::vector<Finding>& findings) {
  if (!requests.are_on_event_loop) return;
  Finding finding;
  finding.evidence = requests.events;
  finding.title = "The model runs on the event loop's thread";
  finding.explanation = fmt::format(
      "Each of {} takes {} (p50), {} (p99), for {} of the time in all; until it returns, no other request is read or "
      "answered.",
      counted(static_cast<double>(requests.events.size()), "call of " + requests.name, calls_of(requests)),
      format_time(requests.p50_ns), format_time(requests.p99_ns), format_percent(requests.busy_percent));
  finding.confidence = Confidence::kMedium;
  finding.source = source_line(facts.trace, finding.evidence.front());
  finding.fix = {"other", "Run the model in a thread of its own, and let the loop go on.",
                 "- y = model(x)\n+ y = await asyncio.to_thread(model, x)"};
  findings.push_back(std::move(finding));
}

void find_crowd(const Facts& facts, const Requests& requests, std::vector<Finding>& findings) {
  const auto threads = session_number(facts.trace, "torch_threads");
  const auto processors = session_number(facts.trace, "processors");
  if (!threads || !processors || *threads < 1 || *processors < 1 || requests.mean_at_once < kLeastAtOnce) return;
  const double wanted = std::round(requests.mean_at_once) * *threads;
  if (wanted <= *processors) return;
  Finding finding;
  finding.title = "Requests that run at once want more processors than there are";
  finding.explanation =
      fmt::format("On average {} run at once, each with {}: {} on {}, which slow each other down.",
                  counted(requests.mean_at_once, "request"), counted(*threads, "thread of torch", "threads of torch"),
                  counted(wanted, "thread"), counted(*processors, "processor"));
  finding.confidence = Confidence::kMedium;
  finding.evidence = requests.events;
  finding.source = source_line(facts.trace, finding.evidence.front());
  const double each = std::max(1.0, std::floor(*processors / std::round(requests.mean_at_once)));
  finding.fix = {"other", "Give each request its share of the processors, or let fewer threads serve.",
                 fmt::format("+ torch.set_num_threads({})", each)};
  findings.push_back(std::move(finding));
}

void find_single_rows(const Facts& facts, const Requests& requests, std::vector<Finding>& findings) {
  const bool is_crowded = requests.mean_at_once >= kLeastAtOnce;
  if (requests.rows != 1 || (!is_crowded && requests.busy_percent < kBusyThreads)) return;
  Finding finding;
  if (facts.diagnosis.requests) {
    finding.title = "Requests are computed one by one";
    finding.explanation = fmt::format(
        "Most {} have a batch of 1, {}. A batch of those that wait takes far less time than each of them alone.",
        calls_of(requests),
        is_crowded
            ? fmt::format("while {} run at once on average", counted(requests.mean_at_once, "request"))
            : fmt::format("and keep those who serve busy {} of the time", format_percent(requests.busy_percent)));
    finding.fix = {"larger_batch", "Gather requests for some milliseconds, and compute them as one batch.",
                   "- y = model(x)\n+ ys = model(torch.stack(waiting))"};
  } else {
    finding.title = "Samples are computed one by one";
    finding.explanation = fmt::format(
        "Most {} have a batch of 1, and one follows the other. A batch of many takes far less time than each of them "
        "alone.",
        calls_of(requests));
    finding.fix = {"larger_batch", "Compute many samples at once.",
                   "- for x in data: y = model(x[None])\n+ for xs in data.split(64): ys = model(xs)"};
  }
  finding.confidence = Confidence::kLow;
  finding.evidence = requests.events;
  finding.source = source_line(facts.trace, finding.evidence.front());
  findings.push_back(std::move(finding));
}

std::vector<Finding> find(const Facts& facts) {
  const std::optional<Requests> requests = requests_of(facts.trace);
  if (!requests) return {};
  std::vector<Finding> findings;
  find_lock(facts, *requests, findings);
  find_blocked_loop(facts, *requests, findings);
  if (facts.diagnosis.breakdown.has_device) return findings;
  find_crowd(facts, *requests, findings);
  find_single_rows(facts, *requests, findings);
  return findings;
}

}  // namespace

Rule rules::request_serving() {
  return {
      {.title = "Requests that wait for each other",
       .looks_for = fmt::format(
           "Requests are calls of the outermost module, or of the function that makes several of them, in a program "
           "that neither trains nor marks steps. Threads that serve wait for a lock of the program's own while "
           "another one computes, for {:.0f} % of the time of requests or more; or the model is called in a thread "
           "that runs asyncio's event loop. Without a GPU: {} requests or more at once, times torch's threads, are "
           "more than the processors; or batches are of 1 while {} requests or more run at once or the threads are "
           "busy {} % of the time.",
           100 * kLeastLocked, kLeastAtOnce, kLeastAtOnce, kBusyThreads),
       .needs = "Modules; stacks for locks and event loops; shapes for batches.",
       .cannot_do_without = {{Need::kModules}},
       .saving = fmt::format(
           "Where whoever holds the lock waits for something else for {:.0f} % of the time or more, the steps are "
           "replayed without that part of the waits for the lock. Who holds it is not recorded: it is taken to be the "
           "function that waits for it, from that line on. Else none is promised: it depends on when requests come.",
           100 * kMostlyIdle),
       .held = "Not measured.",
       .fixes = {"other", "shorten_lock", "larger_batch"}},
      find};
}

}  // namespace telltale
