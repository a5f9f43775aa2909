#include "replay/graph_builder.h"

#include <algorithm>
#include <utility>

#include "analysis/api_calls.h"
#include "analysis/host_timeline.h"
#include "analysis/robust_statistics.h"

namespace telltale {
namespace {

// Device work that begins within this time of what it depends on needs no other explanation.
constexpr Nanoseconds kPromptly = 10'000;
// Of a long delay, one part in so many may stay without explanation: some devices take longer than that to hand over
// from one stream to another (14 to 19 µs on an MI300X, behind collectives of 2 to 9 ms).
constexpr Nanoseconds kUnexplainedPart = 100;
// A call shorter than this may have returned before the device was done: it proves no wait.
constexpr Nanoseconds kLeastWait = 15'000;
// What a waiting call itself takes when there is nothing to wait for.
constexpr Nanoseconds kWaitingCallOwn = 2'000;
// A call that only launches takes no longer than this.
constexpr Nanoseconds kLongestLaunch = 10'000;
// Clocks of host and device agree to about this much.
constexpr Nanoseconds kClockSlack = 1'000;
// How far back the works of a stream are searched for one that had ended: so many launches wait in a driver's queue.
constexpr std::size_t kSearchedWorks = 1024;
// CUDA_LAUNCH_BLOCKING: the share of launching calls that end behind their kernel, counted among telling kernels.
constexpr double kShareOfBlockingLaunches = 0.9;

Nanoseconds median_or(std::vector<Nanoseconds> values, Nanoseconds otherwise) {
  return values.empty() ? otherwise : quantile(std::move(values), 1, 2);
}

}  // namespace

GraphBuilder::GraphBuilder(StepGraph& graph, const StepTiming& timing, const std::vector<HostWork>& host_work)
    : graph_(graph),
      trace_(*graph.trace_),
      timing_(timing),
      host_work_(host_work),
      window_{timing.steps.front().host.begin, timing.steps.back().host.end},
      full_queue_(trace_),
      recorded_waits_(trace_) {}

void GraphBuilder::build() {
  find_launches();
  measure_typical_delays();
  const std::vector<TrackId> threads = launching_threads(trace_, window_);
  for (const std::vector<TrackId>& lane : independent_lanes(trace_, threads, window_, host_work_)) add_lane(lane);
  if (graph_.lanes_.empty()) add_lane({});  // a trace without threads takes its time as well
  graph_.streams_ = static_cast<std::uint32_t>(by_stream_.size());
  graph_.queue_capacity_ = full_queue_.capacity();
  graph_.steps_ = static_cast<std::int64_t>(timing_.steps.size());
}

void GraphBuilder::find_launches() {
  const Events& events = trace_.events;
  for (EventId event = 0; event < events.size(); ++event) {
    if (!is_device_work(events.kind[event])) continue;
    const EventId call = trace_.launch_of(event);
    if (call == kNoEvent || is_on_device(events.kind[call])) continue;
    if (events.start[call] >= window_.begin && events.start[call] < window_.end) launches_.push_back({call, event});
  }
  std::sort(launches_.begin(), launches_.end(), [&](const Launch& a, const Launch& b) {
    if (events.start[a.call] != events.start[b.call]) return events.start[a.call] < events.start[b.call];
    if (a.call != b.call) return a.call < b.call;
    return events.start[a.work] != events.start[b.work] ? events.start[a.work] < events.start[b.work] : a.work < b.work;
  });
}

void GraphBuilder::measure_typical_delays() {
  const Events& events = trace_.events;
  std::vector<Nanoseconds> after_previous, after_launch;
  std::size_t telling = 0, blocking = 0;
  for (const auto& [call, work] : launches_) {
    const std::optional<Nanoseconds> previous = end_before(work);
    const Nanoseconds begun = events.start[call];
    if (previous && *previous > events.end(call) && events.start[work] >= *previous)
      after_previous.push_back(events.start[work] - *previous);
    else if ((!previous || *previous < begun) && events.start[work] >= begun)
      after_launch.push_back(events.start[work] - begun);
    if (events.kind[work] != Kind::kKernel || events.duration[work] < StepGraph::kTellingKernel) continue;
    ++telling;
    if (events.end(work) <= events.end(call)) ++blocking;
  }
  typical_after_previous_ = median_or(std::move(after_previous), kClockSlack);
  typical_after_launch_ = median_or(std::move(after_launch), 4 * kClockSlack);
  graph_.is_launch_blocking_ =
      telling > 0 && static_cast<double>(blocking) >= kShareOfBlockingLaunches * static_cast<double>(telling);
}

void GraphBuilder::add_lane(const std::vector<TrackId>& threads) {
  std::vector<Launch> launches;
  for (const Launch& launch : launches_)
    if (std::find(threads.begin(), threads.end(), trace_.events.track[launch.call]) != threads.end())
      launches.push_back(launch);

  std::vector<StepGraph::HostNode> lane;
  std::size_t next_launch = 0, next_step = 0;
  HostTimeline timeline(trace_, threads, window_, host_work_);
  while (timeline.next()) {
    const HostSegment& segment = timeline.segment();
    StepGraph::HostNode node;
    node.own = segment.when.length();
    node.event = segment.event;
    node.begins_event = segment.event != kNoEvent && trace_.events.start[segment.event] == segment.when.begin;
    node.begins_step = next_step < timing_.steps.size() && timing_.steps[next_step].host.begin < segment.when.end;
    if (node.begins_step) ++next_step;
    add_works(node, segment, launches, next_launch);
    if (node.begins_event) note_stream_wait(segment.event);
    add_wait_for_room(node, segment);
    add_wait(node, segment);
    lane.push_back(node);
  }
  graph_.lanes_.push_back(std::move(lane));
}

void GraphBuilder::add_works(StepGraph::HostNode& node, const HostSegment& segment, const std::vector<Launch>& launches,
                             std::size_t& next) {
  node.first_work = static_cast<std::uint32_t>(graph_.works_.size());
  for (; next < launches.size() && trace_.events.start[launches[next].call] < segment.when.end; ++next)
    add_work(launches[next], segment.when.begin);
  node.work_count = static_cast<std::uint32_t>(graph_.works_.size()) - node.first_work;
}

void GraphBuilder::add_work(const Launch& launch, Nanoseconds node_begin) {
  const Events& events = trace_.events;
  const Nanoseconds start = events.start[launch.work];
  StepGraph::Work work;
  work.event = launch.work;
  work.duration = events.duration[launch.work];
  work.stream = stream_of(events.track[launch.work]);
  const Nanoseconds since_launch = std::max<Nanoseconds>(start - node_begin, 0);
  const Nanoseconds previous_end = end_before(launch.work).value_or(start - since_launch);
  const bool waited_in_queue = previous_end > events.start[launch.call] + typical_after_launch_;
  if (waited_in_queue) {
    work.after_previous = start - previous_end;
    work.after_launch = std::min(since_launch, events.start[launch.call] - node_begin + typical_after_launch_);
    if (work.after_previous > kPromptly) find_dependency(work, start, previous_end, work.after_previous);
  } else {
    work.after_launch = since_launch;
    work.after_previous = std::min(typical_after_previous_, start - previous_end);
    if (start - events.start[launch.call] > typical_after_launch_ + kPromptly)
      find_dependency(work, start, previous_end, start - events.start[launch.call]);
  }
  follow_stream_wait(work, start);
  last_stream_ = work.stream;
  by_stream_[work.stream].push_back(static_cast<std::uint32_t>(graph_.works_.size()));
  graph_.works_.push_back(work);
}

std::uint32_t GraphBuilder::stream_of(TrackId track) {
  const auto [at, is_new] = stream_of_track_.try_emplace(track, static_cast<std::uint32_t>(by_stream_.size()));
  if (is_new) by_stream_.emplace_back();
  return at->second;
}

// The stream's next work waits for all that the other one has been given by now.
void GraphBuilder::note_stream_wait(EventId call) {
  const RecordedWaits::StreamWait* wait = recorded_waits_.stream_wait_of(call);
  if (wait == nullptr) return;
  const std::uint32_t waiting = stream_of(wait->waiting), awaited = stream_of(wait->awaited);
  if (by_stream_[awaited].empty()) return;
  const std::uint32_t work = by_stream_[awaited].back();
  const auto [at, is_new] = awaited_by_stream_.try_emplace(waiting, work);
  if (!is_new && recorded_end(work) > recorded_end(at->second)) at->second = work;
}

// What the recorder says goes before what was found by time. Other delays stay where the wait does not explain them.
void GraphBuilder::follow_stream_wait(StepGraph::Work& work, Nanoseconds start) {
  const auto awaited = awaited_by_stream_.find(work.stream);
  if (awaited == awaited_by_stream_.end()) return;
  work.other = awaited->second;
  awaited_by_stream_.erase(awaited);
  const Nanoseconds since = start - recorded_end(work.other);
  work.after_other = std::clamp<Nanoseconds>(since, 0, kPromptly);
  if (since > kPromptly) return;
  work.after_previous = std::min(work.after_previous, typical_after_previous_);
  work.after_launch = std::min(work.after_launch, typical_after_launch_);
}

// The end of what ran before on the same stream, be it launched before the steps began.
std::optional<Nanoseconds> GraphBuilder::end_before(EventId work) const {
  const EventId first = trace_.tracks[trace_.events.track[work]].first_event;
  while (work > first)
    if (is_device_work(trace_.events.kind[--work])) return trace_.events.end(work);
  return {};
}

// Late by `delay` without a reason of its own stream: the work of another one that had just ended, if there is one.
void GraphBuilder::find_dependency(StepGraph::Work& work, Nanoseconds start, Nanoseconds previous_end,
                                   Nanoseconds delay) {
  Nanoseconds latest = std::max(previous_end, start - std::max(kPromptly, delay / kUnexplainedPart));
  for (std::uint32_t stream = 0; stream < by_stream_.size(); ++stream) {
    if (stream == work.stream) continue;
    const std::vector<std::uint32_t>& works = by_stream_[stream];
    const std::size_t least = works.size() > kSearchedWorks ? works.size() - kSearchedWorks : 0;
    for (std::size_t i = works.size(); i > least; --i) {
      const Nanoseconds end = recorded_end(works[i - 1]);
      if (end > start + kClockSlack) continue;
      if (end > latest) {
        latest = end;
        work.other = works[i - 1];
      }
      break;
    }
  }
  if (work.other == StepGraph::kNone) return;
  work.after_other = start - latest;
  work.after_previous = std::min(work.after_previous, typical_after_previous_);
  work.after_launch = std::min(work.after_launch, typical_after_launch_);
}

// All launches need room; calls that only record or await an event are seen to need it where they waited.
void GraphBuilder::add_wait_for_room(StepGraph::HostNode& node, const HostSegment& segment) {
  if (segment.event == kNoEvent) return;
  const Nanoseconds* own = full_queue_.own_time_of(segment.event);
  if (own != nullptr) node.own = std::min(node.own, *own);
  if (node.work_count > 0)
    node.queue = graph_.works_[node.first_work].stream;
  else if (own != nullptr && !by_stream_.empty())
    node.queue = last_stream_;
}

void GraphBuilder::add_wait(StepGraph::HostNode& node, const HostSegment& segment) {
  if (segment.event == kNoEvent || !is_api_call(trace_.events.kind[segment.event])) return;
  if (!blocks(node, segment)) return;
  const std::uint32_t awaited = awaited_work(segment.event, segment.when);
  if (awaited == StepGraph::kNone) return;
  node.wait = static_cast<std::uint32_t>(graph_.waits_.size());
  graph_.waits_.push_back({awaited, segment.when.end - recorded_end(awaited)});
  const Nanoseconds own = node.work_count > 0 ? time_to_launch(node, segment.when.begin) : kWaitingCallOwn;
  node.own = std::min(node.own, own);
}

// A launching call that waits has handed over its work by the time that begins, if not before.
Nanoseconds GraphBuilder::time_to_launch(const StepGraph::HostNode& node, Nanoseconds begin) const {
  const Nanoseconds start = trace_.events.start[graph_.works_[node.first_work].event];
  return std::clamp<Nanoseconds>(start - begin, 0, kLongestLaunch);
}

// The work whose end freed the call: the last to end within it, on the stream that it waits for, if that is known.
std::uint32_t GraphBuilder::awaited_work(EventId event, Interval call) const {
  const std::optional<TrackId> track = recorded_waits_.stream_awaited_by(event);
  const auto only = track ? stream_of_track_.find(*track) : stream_of_track_.end();
  std::uint32_t awaited = StepGraph::kNone;
  Nanoseconds latest = call.begin;
  for (std::uint32_t stream = 0; stream < by_stream_.size(); ++stream) {
    if (only != stream_of_track_.end() && only->second != stream) continue;
    const std::vector<std::uint32_t>& works = by_stream_[stream];
    const std::size_t least = works.size() > kSearchedWorks ? works.size() - kSearchedWorks : 0;
    for (std::size_t i = works.size(); i > least; --i) {
      const Nanoseconds end = recorded_end(works[i - 1]);
      if (end > call.end + kClockSlack) continue;
      if (end > latest) {
        latest = end;
        awaited = works[i - 1];
      }
      break;
    }
  }
  return awaited;
}

// Calls that wait by name; launches that wait, where all of them do; copies that outlast their copy; and long calls
// about memory that outlast all device work, such as a cudaFree. What only asks the driver for something never waits
// for it.
bool GraphBuilder::blocks(const StepGraph::HostNode& node, const HostSegment& segment) const {
  if (is_waiting_call(trace_.name(segment.event))) return true;
  if (node.work_count > 0) {
    const StepGraph::Work& last = graph_.works_[node.first_work + node.work_count - 1];
    const bool outlasts_it = recorded_end(node.first_work + node.work_count - 1) <= segment.when.end;
    if (trace_.events.kind[last.event] == Kind::kMemcpy) return outlasts_it && segment.when.length() > kLeastWait;
    return outlasts_it && graph_.is_launch_blocking_;
  }
  const ApiCall call = api_call_named(trace_.name(segment.event));
  if (!is_about_memory(call) && call != ApiCall::kLoading) return false;
  if (segment.when.length() < kLeastWait || !outlasts_all_work(segment.when.end)) return false;
  // Asking for memory takes long without waiting: that it waited shows only when it returns right behind the device.
  if (!asks_for_memory(call)) return true;
  return !outlasts_all_work(std::max(segment.when.end - kPromptly, (segment.when.begin + segment.when.end) / 2));
}

bool GraphBuilder::outlasts_all_work(Nanoseconds time) const {
  return std::ranges::all_of(by_stream_, [&](const std::vector<std::uint32_t>& works) {
    return works.empty() || recorded_end(works.back()) <= time;
  });
}

Nanoseconds GraphBuilder::recorded_end(std::uint32_t work) const {
  return trace_.events.end(graph_.works_[work].event);
}

}  // namespace telltale
