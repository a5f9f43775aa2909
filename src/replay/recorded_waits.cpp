#include "replay/recorded_waits.h"

namespace telltale {
namespace {

std::optional<TrackId> stream_numbered(const Trace& trace, DeviceId device, std::int64_t number) {
  for (TrackId track = 0; track < trace.tracks.size(); ++track) {
    const Track& candidate = trace.tracks[track];
    if (candidate.kind == TrackKind::kStream && candidate.device == device && candidate.native_id == number)
      return track;
  }
  return {};
}

}  // namespace

RecordedWaits::RecordedWaits(const Trace& trace) {
  for (std::size_t i = 0; i < trace.syncs.size(); ++i) {
    const EventId sync = trace.syncs.event(i);
    const SyncInfo& info = trace.syncs.row(i);
    const EventId call = trace.events.cause[sync];
    if (call == kNoEvent) continue;
    const TrackId own = trace.events.track[sync];
    const std::string_view kind = trace.strings[info.kind];
    if (kind == "Stream Sync" && trace.tracks[own].kind == TrackKind::kStream) host_waits_[call] = own;
    if (info.wait_on_stream < 0) continue;
    const auto awaited = stream_numbered(trace, trace.tracks[own].device, info.wait_on_stream);
    if (!awaited) continue;
    if (kind == "Stream Wait Event") stream_waits_[call] = {own, *awaited};
    if (kind == "Event Sync") host_waits_[call] = *awaited;
  }
}

const RecordedWaits::StreamWait* RecordedWaits::stream_wait_of(EventId call) const {
  const auto found = stream_waits_.find(call);
  return found == stream_waits_.end() ? nullptr : &found->second;
}

std::optional<TrackId> RecordedWaits::stream_awaited_by(EventId call) const {
  const auto found = host_waits_.find(call);
  if (found == host_waits_.end()) return {};
  return found->second;
}

}  // namespace telltale
