// The step waits for something that is neither the device, nor the loader, nor another rank.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "advise/patterns/lock_holders.h"
#include "advise/rule.h"
#include "analysis/host_waits.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// How a wait ends sooner.
enum class Remedy : std::uint8_t {
  kGoes,      // it is not needed, or could be next to nothing
  kOverlaps,  // another thread does it while the rest of the step runs
};

struct Advice {
  WaitFor what;
  Remedy remedy;
  Confidence confidence;
  std::string_view title;  // before " in train"
  Fix fix;
};

// Locks go with whatever else the other thread does then: less sure than a sleep.
const std::vector<Advice>& advice() {
  static const auto& kAdvice = *new std::vector<Advice>{
      {WaitFor::kSleep,
       Remedy::kGoes,
       Confidence::kHigh,
       "The step sleeps",
       {"remove_sleep",
        "Remove the sleep. Where it waits for something to happen, wait for that itself: an Event, a Condition or a "
        "queue returns as soon as it does.",
        "- while not ready: time.sleep(0.01)\n+ is_ready.wait()  # a threading.Event that the other side sets"}},
      {WaitFor::kLock,
       Remedy::kGoes,
       Confidence::kMedium,
       "The step waits for another thread",
       {"shorten_lock",
        "Hold the lock only while shared data is read or written, and do the slow part outside of it; or let the other "
        "thread hand over what is ready.",
        "- with lock:\n-     result = slow(); shared.update(result)\n+ result = slow()\n+ with lock:\n+     "
        "shared.update(result)"}},
      {WaitFor::kSocket,
       Remedy::kOverlaps,
       Confidence::kMedium,
       "The step waits for the network",
       {"prefetch_request",
        "Ask for what the next step needs while this one runs, on another thread, and ask for several things at once.",
        "+ pool = ThreadPoolExecutor(8)\n+ coming = pool.submit(fetch, step + 1)  # before the step\n- batch = "
        "fetch(step)\n+ batch = coming.result()"}},
      {WaitFor::kPipe,
       Remedy::kOverlaps,
       Confidence::kMedium,
       "The step waits for a pipe",
       {"prefetch_request",
        "Read what the next step needs while this one runs, on another thread, or let the other side write ahead.",
        "+ coming = pool.submit(connection.recv)  # before the step\n- batch = connection.recv()\n+ batch = "
        "coming.result()"}},
      {WaitFor::kFile,
       Remedy::kOverlaps,
       Confidence::kMedium,
       "The step waits for files",
       {"read_ahead",
        "Read ahead and write behind: on another thread, or in the workers of a DataLoader, while the step computes. "
        "What fits into memory is read once.",
        "+ coming = pool.submit(load, step + 1)  # before the step\n- batch = load(step)\n+ batch = coming.result()"}},
      {WaitFor::kProcess,
       Remedy::kOverlaps,
       Confidence::kMedium,
       "The step waits for another process",
       {"keep_process",
        "Start the process once and keep it running, or start the next one before the step and collect its result "
        "after it. Better still, call a library instead of a program.",
        "+ child = subprocess.Popen(command)  # before the step\n- subprocess.run(command)\n+ child.wait()  # after "
        "it"}},
      {WaitFor::kPoll,
       Remedy::kOverlaps,
       Confidence::kLow,
       "The step waits for events",
       {"prefetch_request", "Ask for what is waited for earlier, so that it is there when the step needs it.",
        "+ coming = asyncio.create_task(fetch(step + 1))  # before the step\n- batch = await fetch(step)\n+ batch = "
        "await coming"}},
      {WaitFor::kOther,
       Remedy::kOverlaps,
       Confidence::kLow,
       "The step waits for the operating system",
       {"wait_elsewhere",
        "See what the line waits for (strace -f shows the system call), and do it on another thread or not at all.",
        "+ coming = pool.submit(prepare, step + 1)  # before the step\n- prepare(step)\n+ coming.result()"}},
  };
  return kAdvice;
}

const Advice* advice_for(WaitFor what) {
  const auto at = std::ranges::find(advice(), what, &Advice::what);
  return at == advice().end() ? nullptr : &*at;
}

// An event loop, a server and a thread pool that wait for work have none: that is no fault of the step. What they call
// of the user's may wait as any step does; for locks between requests there is another rule.
bool is_idle(const Trace& trace, EventId call, WaitFor what) {
  constexpr int kMostCallers = 200;  // no program has more around a wait
  EventId at = trace.events.parent[call];
  for (int looks = 0; at != kNoEvent && looks < kMostCallers; ++looks, at = trace.events.parent[at]) {
    const std::string_view name = trace.name(at);
    const auto frame = what == WaitFor::kLock ? std::nullopt : parsed_frame(name);
    if (frame && owner_of(frame->file) == CodeOwner::kUser) return false;
    if (name.contains("asyncio/base_events.py(") || name.contains("socketserver.py(") ||
        name.contains("concurrent/futures/thread.py(") || name.contains("anyio/_backends/"))
      return true;
  }
  return false;
}

bool is_within(const Trace& trace, EventId event, const std::vector<EventId>& functions) {
  for (EventId at = event; at != kNoEvent; at = trace.events.parent[at])
    if (std::ranges::binary_search(functions, at)) return true;
  return false;
}

// The program without any of the waits.
Edit without(const Facts& facts, const std::vector<EventId>& calls) {
  Edit edit = facts.unobserved;
  for (const EventId call : calls) edit.scale_subtree(facts.trace, facts.launched, call, 0, 1);
  return edit;
}

std::string where(const std::optional<SourceLine>& source) {
  if (!source) return {};
  return fmt::format(" {} {}", source->line > 0 ? "at" : "in", short_place(*source));
}

std::string holder_sentence(const Facts& facts, const std::vector<EventId>& calls) {
  const std::optional<LockHolder> holder = lock_holder(facts.trace, calls);
  if (!holder) return {};
  const std::string_view article = holder->thread.starts_with("thread ") ? "" : "the thread ";
  return fmt::format(" Meanwhile {}{} is in {}{}, which may hold what is waited for.", article, holder->thread,
                     holder->source.function, where(holder->source));
}

// A sleep is over when it is; other waits may be shorter or longer next time.
constexpr double kUncertaintyOfSleep = 0.1, kUncertainty = 0.3;

Finding finding_about(const Facts& facts, const HostWait& wait, const std::vector<EventId>& calls,
                      const Advice& advised) {
  const Edit edit = without(facts, calls);
  const Nanoseconds all = std::max<Nanoseconds>(0, facts.saved_by(edit));
  const bool overlaps = advised.remedy == Remedy::kOverlaps;
  // What waits on another thread is hidden by the rest of the step, and no more than that.
  const Nanoseconds hidden = std::min(all, facts.step - all);
  Finding finding;
  finding.saving =
      saving_around(facts, overlaps ? hidden : all, wait.what == WaitFor::kSleep ? kUncertaintyOfSleep : kUncertainty);
  finding.saving.high = std::clamp(finding.saving.high, finding.saving.likely, std::max(all, finding.saving.likely));
  if (overlaps) finding.saving.high = all;
  const double part = static_cast<double>(overlaps ? hidden : all) / static_cast<double>(std::max<Nanoseconds>(all, 1));
  finding.edit = partly(facts.kept(edit), part);
  finding.title = std::string(advised.title);
  if (wait.source && !wait.source->function.empty()) finding.title += " in " + wait.source->function;
  finding.explanation = fmt::format("The step waits for {}{}: {} per recorded step ({}).", phrase_of(wait.what),
                                    where(wait.source), format_time(wait.ns), format_percent(wait.percent));
  if (overlaps && hidden < all)
    finding.explanation += " The rest of the step can hide only a part of that; several at once would hide more.";
  if (wait.what == WaitFor::kLock) finding.explanation += holder_sentence(facts, calls);
  finding.confidence = advised.confidence;
  finding.evidence = calls;
  finding.source = wait.source;
  finding.fix = advised.fix;
  return finding;
}

std::vector<Finding> find(const Facts& facts) {
  std::vector<Finding> findings;
  for (const HostWait& wait : facts.diagnosis.waits) {
    const Advice* const advised = advice_for(wait.what);
    if (advised == nullptr) continue;
    std::vector<EventId> calls;
    for (const EventId call : wait.calls)
      if (facts.is_in_steps(call) && !is_idle(facts.trace, call, wait.what) &&
          !is_within(facts.trace, call, facts.log_calls()))
        calls.push_back(call);
    if (calls.empty()) continue;
    Finding finding = finding_about(facts, wait, calls, *advised);
    if (finding.saving.likely > 0) findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

Rule rules::waiting_in_step() {
  return {
      {.title = "Waiting in the step",
       .looks_for =
           "Lines that sleep, or wait for a lock, a socket, a pipe, a file, another process or an event, on the "
           "thread that works for the steps. Waits for the device, the data loader, other ranks and for logs to be "
           "written are other rules'.",
       .needs = "Stacks: sampled ones, which show what a thread is blocked in, or all calls, which show built-ins "
                "that wait.",
       .cannot_do_without = {{Need::kStacks}},
       .saving = "The steps are replayed without the waits of a line. For a sleep and a lock that is the saving; "
                 "other waits can be hidden behind the rest of the step, and save no more than that takes.",
       .held = "Never compared with measurements yet.",
       .fixes = {"remove_sleep", "shorten_lock", "prefetch_request", "read_ahead", "keep_process", "wait_elsewhere"}},
      find};
}

}  // namespace telltale
