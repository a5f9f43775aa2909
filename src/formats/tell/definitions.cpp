#include "formats/tell/definitions.h"

#include <algorithm>
#include <charconv>

#include "base/text_encoding.h"

namespace telltale::tell {

bool Definitions::take(ChunkKind kind, ByteReader payload) {
  switch (kind) {
    case ChunkKind::kSession:
      return take_session(payload);
    case ChunkKind::kStrings:
      return sites.take_strings(payload);
    case ChunkKind::kSites:
      return sites.take_sites(payload);
    case ChunkKind::kTracks:
      return take_tracks(payload);
    case ChunkKind::kCalibrations:
      return take_calibrations(payload);
    case ChunkKind::kLosses:
      return take_losses(payload);
    case ChunkKind::kOpenScopes:
      return take_open_scopes(payload);
    case ChunkKind::kEnd:
      return take_end(payload);
    case ChunkKind::kRecords:
    case ChunkKind::kIndex:
    case ChunkKind::kTable:
      break;
  }
  return false;
}

bool Definitions::take_session(ByteReader payload) {
  std::vector<std::pair<std::string, std::string>> pairs;
  const std::uint64_t count = payload.varint();
  for (std::uint64_t i = 0; i < count && payload.is_good(); ++i) {
    std::string key(read_text(payload));
    pairs.emplace_back(std::move(key), read_text(payload));
  }
  if (!payload.is_good()) return false;
  for (auto& [key, value] : pairs) {
    for (std::string* text : {&key, &value}) {
      if (is_utf8(*text)) continue;
      *text = repaired_utf8(*text);
      ++repaired_texts_;
    }
  }
  for (auto& [key, value] : pairs) {
    const auto [known, is_new] = session_at_.emplace(key, session.size());
    if (is_new)
      session.emplace_back(std::move(key), std::move(value));
    else
      session[known->second].second = std::move(value);
  }
  return true;
}

bool Definitions::take_tracks(ByteReader payload) {
  std::vector<std::pair<std::uint64_t, RecordedTrack>> described;
  const std::uint64_t count = payload.varint();
  for (std::uint64_t i = 0; i < count && payload.is_good(); ++i) {
    const std::uint64_t number = payload.varint();
    RecordedTrack track;
    const auto type = static_cast<TrackType>(payload.byte());
    track.type = type <= TrackType::kCustom ? type : TrackType::kCustom;
    const auto clock = static_cast<TrackClock>(payload.byte());
    track.clock = clock <= TrackClock::kRealtimeNs ? clock : TrackClock::kTicks;
    track.device = payload.signed_varint();
    track.native_id = payload.signed_varint();
    track.name = sites.text(payload.varint());
    track.order = payload.signed_varint();
    described.emplace_back(number, track);
  }
  if (!payload.is_good()) return false;
  for (const auto& [number, track] : described) {
    const auto [known, is_new] = track_at_.emplace(number, tracks.size());
    if (is_new)
      tracks.emplace_back(number, track);
    else
      tracks[known->second].second = track;
  }
  return true;
}

bool Definitions::take_calibrations(ByteReader payload) {
  std::vector<Calibration> read;
  const std::uint64_t count = payload.varint();
  for (std::uint64_t i = 0; i < count && payload.is_good(); ++i) {
    Calibration calibration;
    calibration.ticks = payload.fixed64();
    calibration.monotonic = payload.fixed64();
    calibration.realtime = payload.fixed64();
    read.push_back(calibration);
  }
  if (!payload.is_good()) return false;
  calibrations.insert(calibrations.end(), read.begin(), read.end());
  return true;
}

bool Definitions::take_losses(ByteReader payload) {
  std::vector<std::pair<LossReason, std::uint64_t>> read;
  const std::uint64_t count = payload.varint();
  for (std::uint64_t i = 0; i < count && payload.is_good(); ++i) {
    const auto reason = static_cast<LossReason>(payload.byte());
    read.emplace_back(reason, payload.varint());
  }
  if (payload.is_good()) losses = std::move(read);
  return payload.is_good();
}

bool Definitions::take_open_scopes(ByteReader payload) {
  const std::uint64_t track = payload.varint();
  OpenScopes open;
  open.ticks = payload.fixed64();
  const std::uint64_t count = payload.varint();
  for (std::uint64_t i = 0; i < count && payload.is_good(); ++i) {
    const std::uint64_t site = payload.varint();
    open.scopes.push_back({payload.fixed64(), site});
  }
  if (!payload.is_good()) return false;
  std::ranges::sort(open.scopes);
  open_scopes[track] = std::move(open);
  return true;
}

bool Definitions::take_end(ByteReader payload) {
  payload.byte();  // why it ended makes no difference to what is in the file
  EndMark mark;
  mark.records = payload.varint();
  mark.ticks = payload.fixed64();
  if (payload.is_good()) end_mark = mark;
  return payload.is_good();
}

const RecordedTrack* Definitions::track(std::uint64_t number) const {
  const auto known = track_at_.find(number);
  return known == track_at_.end() ? nullptr : &tracks[known->second].second;
}

const std::string* Definitions::session_value(std::string_view key) const {
  const auto known = session_at_.find(std::string(key));
  return known == session_at_.end() ? nullptr : &session[known->second].second;
}

std::int64_t Definitions::session_number(std::string_view key) const {
  const std::string* text = session_value(key);
  std::int64_t number = 0;
  if (text == nullptr) return 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  return error == std::errc() && end == text->data() + text->size() ? number : 0;
}

}  // namespace telltale::tell
