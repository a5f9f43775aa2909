#include "timeline/timeline.h"

#include <algorithm>
#include <array>
#include <functional>
#include <thread>
#include <tuple>
#include <utility>

#include "base/parallel.h"

namespace telltale {
namespace {

unsigned threads_or_all(unsigned threads) {
  return threads > 0 ? threads : std::max(1u, std::thread::hardware_concurrency());
}

std::optional<ShownTrackKind> shown_kind(TrackKind kind) {
  switch (kind) {
    case TrackKind::kThread:
      return ShownTrackKind::kThread;
    case TrackKind::kStream:
      return ShownTrackKind::kStream;
    case TrackKind::kAsync:
      return ShownTrackKind::kAsync;
    case TrackKind::kRecording:
      return ShownTrackKind::kRecording;
    case TrackKind::kCounter:
      break;
  }
  return std::nullopt;
}

int group_of(ShownTrackKind kind) {
  switch (kind) {
    case ShownTrackKind::kGaps:
    case ShownTrackKind::kStream:
      return 0;
    case ShownTrackKind::kThread:
      return 1;
    case ShownTrackKind::kAsync:
      return 2;
    case ShownTrackKind::kCounter:
      return 3;
    case ShownTrackKind::kRecording:
      break;
  }
  return 4;
}

// Of a device its gaps and then its streams; of threads the one that matters and then the longest lists.
auto order_of(const ShownTrack& track, std::optional<TrackId> main_thread) {
  const int group = group_of(track.kind);
  const DeviceId device = group == 0 ? track.device.value_or(kHost) : kHost;
  const bool is_thread = track.kind == ShownTrackKind::kThread;
  const std::int64_t events = is_thread ? -static_cast<std::int64_t>(track.events) : 0;
  return std::tuple(group, device, track.kind != ShownTrackKind::kGaps, track.id != main_thread,
                    is_thread ? track.process : 0, events, track.id);
}

}  // namespace

std::string_view name_of(ShownTrackKind kind) {
  constexpr std::array<std::string_view, 6> kNames = {"thread", "stream", "async", "recording", "gaps", "counter"};
  return kNames[static_cast<std::size_t>(kind)];
}

Timeline::Timeline(std::shared_ptr<const Trace> trace, unsigned threads)
    : trace_(std::move(trace)), threads_(threads_or_all(threads)) {
  const std::array<std::function<void()>, 4> parts = {
      [&] { classes_.emplace(*trace_); }, [&] { lanes_.emplace(*trace_, threads_); },
      [&] { curves_ = counter_curves(*trace_); }, [&] { name_uses_ = telltale::name_uses(*trace_, threads_); }};
  parallel_for(parts.size(), threads_, [&](std::size_t part) { parts[part](); });
  list_tracks();
}

void Timeline::list_tracks() {
  for (TrackId id = 0; id < trace_->tracks.size(); ++id) {
    const Track& track = trace_->tracks[id];
    const auto kind = shown_kind(track.kind);
    if (!kind || track.event_count == 0) continue;
    const TrackExtent& extent = lanes_->extent(id);
    tracks_.push_back({.id = id,
                       .kind = *kind,
                       .name = std::string(trace_->strings[track.name]),
                       .process = track.process,
                       .device = track.device == kHost ? std::nullopt : std::optional(track.device),
                       .lanes = lanes_->lane_count(id),
                       .events = track.event_count,
                       .first = extent.first,
                       .last = extent.last,
                       .busy = extent.busy});
  }
  list_gaps_and_curves();
  const auto main_thread =
      trace_->steps.empty() ? std::nullopt : std::optional(trace_->events.track[trace_->steps.front().event]);
  std::ranges::sort(tracks_, {}, [&](const ShownTrack& track) { return order_of(track, main_thread); });
  for (std::size_t place = 0; place < tracks_.size(); ++place) {
    const TrackId id = tracks_[place].id;
    if (id >= place_of_track_.size()) place_of_track_.resize(id + 1, UINT32_MAX);
    place_of_track_[id] = static_cast<std::uint32_t>(place);
  }
}

void Timeline::list_gaps_and_curves() {
  auto id = static_cast<TrackId>(trace_->tracks.size());
  for (const DeviceId device : devices_at_work(*trace_)) {
    const auto stream = std::ranges::find_if(
        tracks_, [&](const ShownTrack& each) { return each.kind == ShownTrackKind::kStream && each.device == device; });
    tracks_.push_back({.id = id++,
                       .kind = ShownTrackKind::kGaps,
                       .name = "idle",
                       .process = stream->process,
                       .device = device,
                       .lanes = 1});
  }
  first_curve_ = id;
  for (const CounterCurve& curve : curves_) {
    const Extremes extremes = curve.extremes();
    tracks_.push_back({.id = id++,
                       .kind = ShownTrackKind::kCounter,
                       .name = curve.name,
                       .process = curve.process,
                       .device = curve.device,
                       .first = curve.time(0),
                       .last = curve.time(curve.size() - 1),
                       .unit = curve.unit,
                       .minimum = extremes.minimum,
                       .maximum = extremes.maximum});
  }
}

const IdleTimes& Timeline::idle_times() const {
  return idle_times_.get([&] { return IdleTimes(*trace_); });
}

const EventLinks& Timeline::links() const {
  return links_.get([&] { return EventLinks(*trace_); });
}

const FoundSteps& Timeline::steps() const {
  return steps_.get([&] { return found_steps(*trace_); });
}

const CounterCurve* Timeline::curve(TrackId id) const {
  if (id < first_curve_ || id - first_curve_ >= curves_.size()) return nullptr;
  return &curves_[id - first_curve_];
}

const ShownTrack* Timeline::track(TrackId id) const {
  if (id >= place_of_track_.size() || place_of_track_[id] == UINT32_MAX) return nullptr;
  return &tracks_[place_of_track_[id]];
}

std::size_t Timeline::memory_bytes() const {
  std::size_t bytes = 0;
  if (const IdleTimes* made = idle_times_.peek()) bytes += made->memory_bytes();
  if (const EventLinks* made = links_.peek()) bytes += made->memory_bytes();
  for (const CounterCurve& curve : curves_) bytes += curve.memory_bytes();
  return bytes + lanes_->memory_bytes() + classes_->memory_bytes() + name_uses_.capacity() * sizeof(NameUse) +
         tracks_.capacity() * sizeof(ShownTrack) + place_of_track_.capacity() * sizeof(std::uint32_t);
}

}  // namespace telltale
