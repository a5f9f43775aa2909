// The host waits for the device in the middle of a step, and the device then waits for the host.
//
// Without the wait the host runs ahead. The operators that exist only to fetch the value are gone with it: their own
// time, the calls that launch the copy, and the copy. In a step that waits for the host this is all there is to save.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <string_view>

#include "advise/patterns/anomaly_checks.h"
#include "advise/rule.h"
#include "analysis/api_calls.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// How far off savings of this rule were, as a share of them.
constexpr double kUncertainty = 0.4;
// A longer wait during which the device has less recorded work than this share is for something outside of the file.
constexpr Nanoseconds kTellingWait = 100'000;
constexpr double kLeastWorkInWait = 0.5;

// Operators that do nothing but fetch a value, or find out how many elements there are.
constexpr auto kFetching =
    std::to_array<std::string_view>({"aten::item", "aten::_local_scalar_dense", "aten::is_nonzero", "aten::nonzero"});
// Operators whose result has a shape that depends on the values they are given.
constexpr auto kShapedByData = std::to_array<std::string_view>(
    {"aten::nonzero", "aten::masked_select", "aten::index", "aten::index_put_", "aten::unique", "aten::_unique",
     "aten::_unique2", "aten::unique_dim", "aten::unique_consecutive", "aten::repeat_interleave", "aten::where"});

bool is_among(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Waits behind copies from pageable memory are those of another rule, as are those of autograd's anomaly detection.
std::set<EventId> waits_of_pageable_copies(const Facts& facts) {
  std::set<EventId> waits;
  for (const CopyCall& copy : facts.diagnosis.copies.calls)
    if (copy.is_pageable && copy.direction == CopyDirection::kHostToDevice) waits.insert(copy.wait);
  return waits;
}

std::string_view what_waits(const Facts& facts, const SyncPoint& sync) {
  return facts.trace.name(sync.op == kNoEvent ? sync.call : sync.op);
}

// Picks the waits that a program can do without.
class Search {
 public:
  explicit Search(const Facts& facts)
      : facts_(facts), trace_(facts.trace), of_copies_(waits_of_pageable_copies(facts)) {
    std::vector<Interval> work;
    for (EventId event = 0; event < trace_.events.size(); ++event) {
      if (!is_device_work(trace_.events.kind[event])) continue;
      work.push_back({trace_.events.start[event], trace_.events.end(event)});
      const EventId launch = trace_.launch_of(event);
      if (launch != kNoEvent) last_launch_ = std::max(last_launch_, trace_.events.start[launch]);
    }
    busy_ = united(std::move(work));
    for (const SyncPoint& sync : facts.diagnosis.syncs) ++waits_named_[what_waits(facts, sync)];
  }

  std::vector<SyncPoint> run() const {
    std::vector<SyncPoint> waits;
    for (const SyncPoint& sync : facts_.diagnosis.syncs)
      if (is_wait_by_name(sync) && !of_copies_.contains(sync.call) && !is_anomaly_check(trace_, sync.call) &&
          !ends_recording(sync) && has_its_work(sync))
        waits.push_back(sync);
    return waits;
  }

 private:
  bool is_wait_by_name(const SyncPoint& sync) const {
    return facts_.host_work[sync.call] == HostWork::kSync && is_waiting_call(trace_.name(sync.call));
  }
  // A wait that nothing follows, and that is unlike all others: the recorder, or the program at its end, waits for what
  // is left.
  bool ends_recording(const SyncPoint& sync) const {
    return trace_.events.start[sync.call] > last_launch_ && waits_named_.at(what_waits(facts_, sync)) == 1;
  }
  // Where the device has nothing to do in the file, what the host waits for was launched before the recording, or by
  // another process.
  bool has_its_work(const SyncPoint& sync) const {
    if (sync.waited < kTellingWait) return true;
    const Interval wait{trace_.events.start[sync.call], trace_.events.end(sync.call)};
    return static_cast<double>(total_length(clipped(busy_, wait))) >=
           kLeastWorkInWait * static_cast<double>(sync.waited);
  }

  const Facts& facts_;
  const Trace& trace_;
  std::set<EventId> of_copies_;
  std::vector<Interval> busy_;  // of all devices
  Nanoseconds last_launch_ = 0;
  std::map<std::string_view, std::size_t> waits_named_;
};

// "<built-in method item of Tensor object at 0x7f57b78b7c50>", which does nothing else.
bool is_call_of(const Trace& trace, EventId frame, EventId op) {
  return trace.events.kind[frame] == Kind::kPython && trace.name(frame).starts_with("<built-in method ") &&
         op == frame + 1 && subtree_end(trace, frame) == subtree_end(trace, op);
}

// The outermost call around a wait that only fetches; kNoEvent when none does.
EventId fetching_call(const Trace& trace, EventId wait) {
  EventId fetching = kNoEvent;
  for (EventId at = trace.events.parent[wait]; at != kNoEvent; at = trace.events.parent[at]) {
    const bool fetches = trace.events.kind[at] == Kind::kOperator && is_among(kFetching, trace.name(at));
    if (fetches || (fetching != kNoEvent && is_call_of(trace, at, fetching)))
      fetching = at;
    else if (!is_api_call(trace.events.kind[at]))
      break;
  }
  return fetching;
}

Edit without(const Facts& facts, const std::vector<SyncPoint>& waits) {
  Edit edit = facts.unobserved;
  std::set<EventId> gone;
  for (const SyncPoint& sync : waits) {
    edit.drop_wait(facts.trace, sync.call);
    const EventId call = fetching_call(facts.trace, sync.call);
    if (call != kNoEvent && gone.insert(call).second) edit.scale_subtree(facts.trace, facts.launched, call, 0, 0);
  }
  return edit;
}

Fix fix_for(const Facts& facts, bool is_shaped_by_data) {
  if (is_shaped_by_data)
    return {"remove_sync",
            "Avoid shapes that depend on values: compute on all elements and choose with torch.where, take a fixed "
            "number with topk, and tell repeat_interleave its output_size.",
            "- y = f(x[mask])\n+ y = torch.where(mask, f(x), 0)"};
  if (facts.trains)
    return {"remove_sync",
            "Keep the value on the GPU and read it only every so many steps, or copy it without blocking.",
            "- total += loss.item()\n+ total += loss.detach()  # .item() once, when it is printed"};
  return {"remove_sync",
          "Keep the value on the GPU and read it only once the answer is complete, or copy it without blocking.",
          "- tokens.append(token.item())\n+ tokens.append(token)  # torch.cat(tokens).tolist() once, at the end"};
}

std::vector<Finding> find(const Facts& facts) {
  if (facts.graph.is_launch_blocking()) return {};
  std::vector<SyncPoint> waits = Search(facts).run();
  if (waits.empty()) return {};
  const Edit edit = without(facts, waits);
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};

  std::ranges::stable_sort(waits, std::ranges::greater{}, &SyncPoint::idle_after);
  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(edit);
  finding.reach = changed_by(facts, edit);
  finding.confidence = facts.trace.recorded.stacks ? Confidence::kMedium : Confidence::kLow;
  for (const SyncPoint& sync : waits) finding.evidence.push_back(sync.call);
  finding.source = source_line(facts.trace, waits.front().call);
  const std::string_view waiting = what_waits(facts, waits.front());
  const bool is_shaped_by_data = is_among(kShapedByData, waiting);
  const double per_step = static_cast<double>(waits.size()) / facts.steps();
  finding.title = fmt::format("The host waits for the GPU {} per step", how_often(per_step));
  finding.explanation = fmt::format(
      "{} makes the host wait until the GPU has finished everything{}; the GPU then has nothing to do while the host "
      "prepares new work.",
      waiting, is_shaped_by_data ? ", because the shape of its result depends on the data" : "");
  finding.fix = fix_for(facts, is_shaped_by_data);
  return {finding};
}

}  // namespace

Rule rules::host_sync() {
  return {
      {.title = "Waits for the GPU within a step",
       .looks_for = "Calls that return only when the GPU is done (.item(), nonzero, *Synchronize, blocking copies) and "
                    "leave it with nothing to do. The wait that ends a recording does not count, nor do waits for work "
                    "that is not in the file.",
       .needs = "CPU and CUDA activities; stacks for the source line.",
       .cannot_do_without = {{Need::kDevice}},
       .saving = "The steps are replayed without the waits and without the operators that only fetch the value, their "
                 "calls and their copies. Where the host is the bottleneck, only the latter save anything.",
       .held = "In 8 programs the median error was 2.2 points of the step and the largest 13 (item_every_layer: "
               "predicted 10, measured -3, in steps that varied by 19 %).",
       .fixes = {"remove_sync"}},
      find};
}

}  // namespace telltale
