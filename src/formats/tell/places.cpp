#include "formats/tell/places.h"

#include <limits>
#include <set>
#include <tuple>
#include <utility>

namespace telltale::tell {
namespace {

// Of clocks that count nanoseconds already.
constexpr double kNanosecondsPerSecond = 1e9;

bool is_moment(std::uint64_t nanoseconds) { return nanoseconds <= static_cast<std::uint64_t>(ClockMap::kFurthestTime); }

ClockMap ticks_of(const Definitions& definitions) {
  const std::string* clock = definitions.session_value("clock");
  if (clock != nullptr && *clock == "monotonic") return {{}, kNanosecondsPerSecond};
  std::vector<ClockReading> readings;
  for (const Calibration& each : definitions.calibrations)
    if (is_moment(each.monotonic)) readings.push_back({each.ticks, static_cast<Nanoseconds>(each.monotonic)});
  const std::int64_t per_second = definitions.session_number("ticks_per_second");
  return {readings, per_second > 0 ? static_cast<double>(per_second) : kNanosecondsPerSecond};
}

ClockMap realtime_of(const Definitions& definitions) {
  std::vector<ClockReading> readings;
  for (const Calibration& each : definitions.calibrations)
    if (is_moment(each.monotonic)) readings.push_back({each.realtime, static_cast<Nanoseconds>(each.monotonic)});
  if (readings.empty())
    readings.push_back(
        {static_cast<std::uint64_t>(definitions.session_number("epoch_ns")), definitions.session_number("start_ns")});
  return {readings, kNanosecondsPerSecond};
}

std::optional<std::int64_t> epoch_of(const Definitions& definitions) {
  for (const Calibration& each : definitions.calibrations)
    if (is_moment(each.realtime) && is_moment(each.monotonic))
      return static_cast<std::int64_t>(each.realtime) - static_cast<std::int64_t>(each.monotonic);
  const std::int64_t epoch = definitions.session_number("epoch_ns"), start = definitions.session_number("start_ns");
  if (epoch <= 0 || start < 0) return std::nullopt;
  return epoch - start;
}

DeviceId device_of(const RecordedTrack& track) {
  return std::in_range<DeviceId>(track.device) ? static_cast<DeviceId>(track.device) : kHost;
}

}  // namespace

Places::Places(const Definitions& definitions)
    : ticks_(ticks_of(definitions)), realtime_(realtime_of(definitions)), epoch_ns_(epoch_of(definitions)) {
  process_.number = definitions.session_number("pid");
  if (const std::string* name = definitions.session_value("process")) process_name_ = *name;
  std::set<std::tuple<TrackKind, DeviceId, std::int64_t, std::string>> taken;
  for (const auto& [number, track] : definitions.tracks) {
    Place place = made_of(track, definitions.sites);
    // A thread's id is used again when the thread is gone; these are different threads all the same.
    const auto is_taken = [&] {
      return !taken.emplace(place.kind, place.device, place.thread.number, place.thread.text).second;
    };
    if (is_taken()) {
      const std::string name = place.name.empty() ? "track" : place.name;
      place.thread.text = name + " (" + std::to_string(number) + ')';
      is_taken();
    }
    place_at_.emplace(number, places_.size());
    places_.emplace_back(number, std::move(place));
  }
}

Place Places::made_of(const RecordedTrack& track, const Sites& sites) const {
  Place place;
  place.thread.number = track.native_id;
  place.device = device_of(track);
  place.clock = track.clock;
  place.name = sites[track.name];
  place.order = track.order;
  const bool is_on_a_device =
      track.type == TrackType::kStream || (track.type == TrackType::kCustom && place.device >= 0);
  if (is_on_a_device) {
    if (place.device < 0) place.device = 0;
    place.kind = TrackKind::kStream;
    // Named apart, so that the numbers of a device and of a process can be the same.
    place.process = {place.device, "GPU " + std::to_string(place.device)};
  } else {
    place.device = kHost;
    place.process = process_;
    if (track.type == TrackType::kCustom) place.thread.text = place.name;
  }
  return place;
}

Place Places::place(std::uint64_t track) const {
  if (const auto known = place_at_.find(track); known != place_at_.end()) return places_[known->second].second;
  Place place;
  place.process = process_;
  place.thread.text = "track " + std::to_string(track);
  return place;
}

std::optional<Nanoseconds> Places::time(TrackClock clock, std::uint64_t value) const {
  switch (clock) {
    case TrackClock::kTicks:
      return ticks_(value);
    case TrackClock::kMonotonicNs:
      return is_moment(value) ? std::optional(static_cast<Nanoseconds>(value)) : std::nullopt;
    case TrackClock::kRealtimeNs:
      return realtime_(value);
  }
  return std::nullopt;
}

void Places::label(LocalNames& names, TraceBuilder& builder) const {
  using What = TrackLabel::What;
  const auto text = [&](std::string_view value) { return names.strings.intern(value); };
  const auto add = [&](const PlaceId& process, const PlaceId& thread, What what, std::string_view value,
                       std::int64_t number = 0) {
    builder.append_label(names, {local_id(process, names), local_id(thread, names), what, text(value), number});
  };
  const PlaceId nothing{std::numeric_limits<std::int64_t>::min(), {}};
  add(process_, nothing, What::kProcessName, process_name_);
  std::set<DeviceId> devices;
  for (const auto& [number, place] : places_) {
    if (!place.name.empty()) add(place.process, place.thread, What::kThreadName, place.name);
    if (place.order != 0) add(place.process, place.thread, What::kThreadSortIndex, {}, place.order);
    if (place.kind != TrackKind::kStream || !devices.insert(place.device).second) continue;
    add(place.process, nothing, What::kProcessName, process_name_);
    add(place.process, nothing, What::kProcessLabels, place.process.text);
  }
}

NativeId local_id(const PlaceId& id, LocalNames& names) { return {id.number, names.strings.intern(id.text)}; }

TrackKey local_key(const Place& place, LocalNames& names) {
  return {local_id(place.process, names), local_id(place.thread, names), place.kind, place.device};
}

}  // namespace telltale::tell
