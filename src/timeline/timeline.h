// A trace that is looked at: all of it as tracks, drawn at any zoom, and whatever else is worth keeping between looks.
//
// Const and thread-safe once made. What takes long and no picture needs at first (why devices idle, links, steps) is
// found when it is first asked for; who asks for it meanwhile waits. All else is made at the start, in linear time and
// by several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/found_steps.h"
#include "analysis/work_class.h"
#include "timeline/counter_curves.h"
#include "timeline/event_links.h"
#include "timeline/idle_times.h"
#include "timeline/lane_index.h"
#include "timeline/made_once.h"
#include "timeline/name_uses.h"
#include "timeline/work_classes.h"
#include "trace/trace.h"

namespace telltale {

// Those of the trace but for counters, which are curves here, and the idle times of devices.
enum class ShownTrackKind : std::uint8_t { kThread, kStream, kAsync, kRecording, kGaps, kCounter };
std::string_view name_of(ShownTrackKind kind);

// A line of the picture.
struct ShownTrack {
  TrackId id = 0;  // of Trace::tracks; gaps, then counters come behind those
  ShownTrackKind kind = ShownTrackKind::kThread;
  std::string name;
  ProcessId process = 0;
  std::optional<DeviceId> device;
  std::size_t lanes = 0;
  std::size_t events = 0;                     // 0 for gaps and counters
  Nanoseconds first = 0, last = 0, busy = 0;  // of its events: see TrackExtent
  std::string unit;                           // of a counter, likewise below
  std::optional<double> minimum, maximum;
};

class Timeline {
 public:
  explicit Timeline(std::shared_ptr<const Trace> trace, unsigned threads = 0);  // 0: as many as there are processors

  const Trace& trace() const { return *trace_; }
  const LaneIndex& lanes() const { return *lanes_; }
  const WorkClasses& classes() const { return *classes_; }
  const std::vector<NameUse>& name_uses() const { return name_uses_; }
  const IdleTimes& idle_times() const;
  const EventLinks& links() const;
  const FoundSteps& steps() const;
  // Null when the track is none.
  const CounterCurve* curve(TrackId id) const;

  // In the order in which they are best shown: what devices do and why they idle; threads, first the one that steps are
  // marked on, then those with the most events; spans of no thread; counters; what the recorder says of itself.
  const std::vector<ShownTrack>& tracks() const { return tracks_; }
  // Null when there is none.
  const ShownTrack* track(TrackId id) const;

  // Without what is not asked for yet.
  std::size_t memory_bytes() const;

 private:
  void list_tracks();
  void list_gaps_and_curves();

  std::shared_ptr<const Trace> trace_;
  unsigned threads_;
  std::optional<LaneIndex> lanes_;
  std::optional<WorkClasses> classes_;
  std::vector<NameUse> name_uses_;
  std::vector<CounterCurve> curves_;
  TrackId first_curve_ = 0;  // the track of the first
  std::vector<ShownTrack> tracks_;
  std::vector<std::uint32_t> place_of_track_;  // by id, in tracks_; UINT32_MAX: it is not shown

  MadeOnce<IdleTimes> idle_times_;
  MadeOnce<EventLinks> links_;
  MadeOnce<FoundSteps> steps_;
};

}  // namespace telltale
