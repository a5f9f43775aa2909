// What a recording says besides its records: who recorded, on which tracks, by which clocks, what was lost.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/tell/clock.h"
#include "formats/tell/sites.h"
#include "tell/layout.h"
#include "tell/varint.h"
#include "trace/trace.h"

namespace telltale::tell {

struct RecordedTrack {
  TrackType type = TrackType::kThread;
  TrackClock clock = TrackClock::kTicks;
  std::int64_t device = kHost;
  std::int64_t native_id = 0;
  StringId name = kEmptyString;  // of Definitions::sites
  std::int64_t order = 0;
};

struct OpenScope {
  std::uint64_t start = 0;  // ticks
  std::uint64_t site = 0;   // the file's number
  auto operator<=>(const OpenScope&) const = default;
};

// What one thread had begun and not ended.
struct OpenScopes {
  std::uint64_t ticks = 0;        // when that was so
  std::vector<OpenScope> scopes;  // outermost first, in ascending order
};

struct Calibration {
  std::uint64_t ticks = 0, monotonic = 0, realtime = 0;
};

struct EndMark {
  std::uint64_t records = 0;  // written in all
  std::uint64_t ticks = 0;
};

struct Definitions {
  Sites sites;
  std::vector<std::pair<std::string, std::string>> session;     // in the order of the file; a later value replaces
  std::vector<std::pair<std::uint64_t, RecordedTrack>> tracks;  // by the file's number, in the order of the file
  std::vector<Calibration> calibrations;
  std::vector<std::pair<LossReason, std::uint64_t>> losses;
  std::map<std::uint64_t, OpenScopes> open_scopes;  // by track
  std::optional<EndMark> end_mark;

  // The payload of a chunk of any kind but records, index and table. False when it is not what it should be; nothing of
  // it is kept then.
  bool take(ChunkKind kind, ByteReader payload);

  const RecordedTrack* track(std::uint64_t number) const;
  // Null when the session does not say.
  const std::string* session_value(std::string_view key) const;
  // 0 when the session does not say, or no number.
  std::int64_t session_number(std::string_view key) const;

  // Those that were no UTF-8.
  std::uint64_t repaired_texts() const { return repaired_texts_ + sites.repaired_texts(); }

 private:
  bool take_session(ByteReader payload);
  bool take_tracks(ByteReader payload);
  bool take_calibrations(ByteReader payload);
  bool take_losses(ByteReader payload);
  bool take_open_scopes(ByteReader payload);
  bool take_end(ByteReader payload);

  std::unordered_map<std::uint64_t, std::size_t> track_at_;
  std::unordered_map<std::string, std::size_t> session_at_;
  std::uint64_t repaired_texts_ = 0;
};

}  // namespace telltale::tell
