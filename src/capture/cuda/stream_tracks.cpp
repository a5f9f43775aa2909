#include "capture/cuda/stream_tracks.h"

#include <string>

#include "telltale/telltale.h"

namespace telltale::capture {

std::uint32_t StreamTracks::of(std::uint32_t device, std::uint32_t stream) {
  const std::lock_guard held(mutex_);
  const auto [found, is_new] = tracks_.try_emplace({device, stream}, 0);
  if (is_new) {
    const bool is_whole_device = stream == kNoStream;
    const std::string name = is_whole_device ? "whole device" : "stream " + std::to_string(stream);
    telltale_track track = {};
    track.name = name.c_str();
    track.type = TELLTALE_TRACK_TYPE_STREAM;
    track.clock = TELLTALE_CLOCK_TICKS;
    track.device = static_cast<std::int32_t>(device);
    track.native_id = is_whole_device ? -1 : static_cast<std::int64_t>(stream);
    track.order = static_cast<std::int32_t>(is_whole_device ? -1 : static_cast<std::int64_t>(stream));
    found->second = telltale_make_track(&track);
  }
  return found->second;
}

std::uint32_t StreamTracks::of_no_device(std::uint32_t& track, const char* name) {
  const std::lock_guard held(mutex_);
  if (track == 0) {
    telltale_track description = {};
    description.name = name;
    description.type = TELLTALE_TRACK_TYPE_CUSTOM;
    description.clock = TELLTALE_CLOCK_TICKS;
    description.device = -1;
    track = telltale_make_track(&description);
  }
  return track;
}

}  // namespace telltale::capture
