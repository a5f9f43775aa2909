#include "trace/slice.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "trace/nesting.h"
#include "trace/row_ids.h"

namespace telltale {
namespace {

constexpr std::uint32_t kUnknown = std::numeric_limits<std::uint32_t>::max();

bool is_in(const std::vector<Interval>& windows, Nanoseconds time) {
  const auto behind = std::ranges::upper_bound(windows, time, {}, &Interval::begin);
  return behind != windows.begin() && time < (behind - 1)->end;
}

// Keeps what is asked for of a list, in the order in which it is asked for.
template <typename Value>
class KeptValues {
 public:
  void choose_from(const std::vector<Value>& all) {
    all_ = &all;
    kept_id_.assign(all.size(), kUnknown);
  }
  std::uint32_t keep(std::uint32_t id) {
    if (kept_id_[id] == kUnknown) {
      kept_id_[id] = static_cast<std::uint32_t>(kept_.size());
      kept_.push_back((*all_)[id]);
    }
    return kept_id_[id];
  }
  std::vector<Value> take() { return std::move(kept_); }

 private:
  const std::vector<Value>* all_ = nullptr;
  std::vector<std::uint32_t> kept_id_;
  std::vector<Value> kept_;
};

// The making of one slice, step by step: each member function is one step, in the order of run().
class Slicing {
 public:
  Slicing(const Trace& whole, const Selection& selection)
      : whole_(whole),
        selection_(selection),
        string_(whole.strings.size(), kUnknown),
        event_(whole.events.size(), kNoEvent),
        track_(whole.tracks.size(), kUnknown) {
    for_each_shared_list([&](const TableInfo&, auto rows_in, auto) { rows_in(shared_).choose_from(rows_in(whole)); });
  }

  Trace run() {
    find_origin();
    copy_what_is_about_the_file();
    keep_tracks();
    keep_events();
    keep_side_tables();
    keep_memory();
    keep_counters();
    part_.strings.shrink();
    return std::move(part_);
  }

  // What becomes of the ids in a row; see change_ids().
  StringId string(StringId id) {
    if (string_[id] == kUnknown) string_[id] = part_.strings.intern(whole_.strings[id]);
    return string_[id];
  }
  EventId event(EventId id) const { return id == kNoEvent ? kNoEvent : event_[id]; }
  template <SharedRow Row>
  std::uint32_t shared_row(std::uint32_t id, RowOf<Row>) {
    return shared_rows<Row>(shared_).keep(id);
  }

 private:
  void find_origin();
  void copy_what_is_about_the_file();
  void keep_tracks();
  void keep_events();
  void keep_side_tables();
  void keep_memory();
  void keep_counters();
  void nest_events();

  // Device work whose launch is gone still belongs to its operator.
  EventId kept_cause(EventId id) const {
    const EventId cause = event(whole_.events.cause[id]);
    return cause == kNoEvent && is_on_device(whole_.events.kind[id]) ? event(whole_.operator_of(id)) : cause;
  }
  bool keeps_time(Nanoseconds time) const { return is_in(selection_.windows, time); }

  template <typename Row>
  void keep_rows(const SideTable<Row>& from, SideTable<Row>& to, auto description) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (!selection_.events[from.event(i)]) continue;
      Row row = from.row(i);
      change_ids(row, description, *this);
      to.append(event_[from.event(i)], row);
    }
  }

  const Trace& whole_;
  const Selection& selection_;
  Trace part_;
  Nanoseconds origin_ = 0;
  std::vector<StringId> string_;  // new ids by old ones, likewise below
  std::vector<EventId> event_;
  std::vector<TrackId> track_;
  SharedRows<KeptValues> shared_;
};

void Slicing::find_origin() {
  Nanoseconds first = std::numeric_limits<Nanoseconds>::max(), last = std::numeric_limits<Nanoseconds>::min();
  for (EventId id = 0; id < whole_.events.size(); ++id) {
    if (!selection_.events[id]) continue;
    first = std::min(first, whole_.events.start[id]);
    if (whole_.events.kind[id] != Kind::kInstant) last = std::max(last, whole_.events.end(id));
  }
  for (const std::vector<Nanoseconds>* times : {&whole_.memory.time, &whole_.counters.time})
    for (const Nanoseconds time : *times)
      if (keeps_time(time)) first = std::min(first, time);
  if (first == std::numeric_limits<Nanoseconds>::max()) first = 0;
  origin_ = first;
  part_.duration = std::max<Nanoseconds>(0, last > first ? last - first : 0);
}

void Slicing::copy_what_is_about_the_file() {
  part_.format = whole_.format;
  part_.origin_epoch_ns = whole_.origin_epoch_ns == 0 ? 0 : whole_.origin_epoch_ns + origin_;
  part_.text_bytes = whole_.text_bytes;
  part_.metadata = whole_.metadata;
  part_.distributed = whole_.distributed;
  part_.recorded = whole_.recorded;
  part_.devices = whole_.devices;
  part_.anomalies = whole_.anomalies;
}

// Those with events first, then those that only have memory events, then those of counters: as in any trace.
void Slicing::keep_tracks() {
  enum Use : std::uint8_t { kEvents, kMemory, kCounters, kNothing };
  std::vector<Use> uses(whole_.tracks.size(), kNothing);
  const auto use = [&](TrackId track, Use what) { uses[track] = std::min(uses[track], what); };
  for (EventId id = 0; id < whole_.events.size(); ++id)
    if (selection_.events[id]) use(whole_.events.track[id], kEvents);
  for (std::size_t i = 0; i < whole_.memory.size(); ++i)
    if (keeps_time(whole_.memory.time[i])) use(whole_.memory.track[i], kMemory);
  for (const CounterSeries& series : whole_.counters.series)
    for (std::uint32_t i = series.first; i < series.first + series.count; ++i)
      if (keeps_time(whole_.counters.time[i])) use(series.track, kCounters);

  std::vector<ProcessId> process(whole_.processes.size(), kUnknown);
  for (const Use wanted : {kEvents, kMemory, kCounters}) {
    for (TrackId id = 0; id < whole_.tracks.size(); ++id) {
      if (uses[id] != wanted) continue;
      Track track = whole_.tracks[id];
      if (process[track.process] == kUnknown) {
        process[track.process] = static_cast<ProcessId>(part_.processes.size());
        Process& kept = part_.processes.emplace_back(whole_.processes[track.process]);
        change_ids(kept, RowOf<Process>{}, *this);
      }
      track.process = process[track.process];
      track.name = string(track.name);
      track.first_event = track.event_count = 0;
      track_[id] = static_cast<TrackId>(part_.tracks.size());
      part_.tracks.push_back(track);
    }
  }
}

void Slicing::keep_events() {
  const Events& from = whole_.events;
  Events& to = part_.events;
  for (const Track& old_track : whole_.tracks) {
    const EventId first = static_cast<EventId>(to.size());
    for (EventId id = old_track.first_event; id != old_track.first_event + old_track.event_count; ++id) {
      if (!selection_.events[id]) continue;
      event_[id] = static_cast<EventId>(to.size());
      to.start.push_back(from.start[id] - origin_);
      to.duration.push_back(from.duration[id]);
      to.name.push_back(string(from.name[id]));
      to.kind.push_back(from.kind[id]);
      to.track.push_back(track_[from.track[id]]);
    }
    if (to.size() == first) continue;
    Track& track = part_.tracks[to.track.back()];
    track.first_event = first;
    track.event_count = static_cast<EventId>(to.size()) - first;
  }
  // Tracks without events stand behind all events, as if theirs began there.
  for (Track& track : part_.tracks)
    if (track.event_count == 0) track.first_event = static_cast<EventId>(to.size());

  to.parent.assign(to.size(), kNoEvent);
  to.cause.assign(to.size(), kNoEvent);
  for (EventId id = 0; id < from.size(); ++id)
    if (event_[id] != kNoEvent) to.cause[event_[id]] = kept_cause(id);
  nest_events();
  for (const Step& step : whole_.steps)
    if (event(step.event) != kNoEvent)
      part_.steps.push_back({step.index, event(step.event), step.start - origin_, step.duration});
  for (const Flow& flow : whole_.flows)
    if (event(flow.from) != kNoEvent && event(flow.to) != kNoEvent)
      part_.flows.push_back({string(flow.name), event(flow.from), event(flow.to)});
}

void Slicing::nest_events() {
  for (const Track& track : part_.tracks) {
    if (!nest(part_.events, track)) continue;
    bool has_too_many = false;
    const auto lanes = lanes_of(part_.events, track, has_too_many);
    for (EventId i = 0; i < track.event_count; ++i)
      if (lanes[i] > 0) part_.lanes.append(track.first_event + i, lanes[i]);
  }
}

void Slicing::keep_side_tables() {
  for_each_side_table([&](const TableInfo& info, auto table_of, auto description) {
    if (!info.is_worked_out) keep_rows(table_of(whole_), table_of(part_), description);
  });
  for_each_shared_list([&](const TableInfo&, auto rows_in, auto description) {
    rows_in(part_) = rows_in(shared_).take();
    for (auto& row : rows_in(part_)) change_ids(row, description, *this);
  });
}

void Slicing::keep_memory() {
  const MemoryEvents& from = whole_.memory;
  MemoryEvents& to = part_.memory;
  if (from.size() == 0) return;
  const OpenRows open_rows(part_.events);
  std::vector<EventId> hints(part_.tracks.size(), 0);
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!keeps_time(from.time[i])) continue;
    const TrackId track = track_[from.track[i]];
    const Nanoseconds time = from.time[i] - origin_;
    to.time.push_back(time);
    to.address.push_back(from.address[i]);
    to.bytes.push_back(from.bytes[i]);
    to.total_allocated.push_back(from.total_allocated[i]);
    to.total_reserved.push_back(from.total_reserved[i]);
    to.device.push_back(from.device[i]);
    to.track.push_back(track);
    to.event.push_back(open_rows.innermost_at(part_.tracks[track], time, hints[track]));
    if (!from.pool.empty()) to.pool.push_back(string(from.pool[i]));
  }
}

void Slicing::keep_counters() {
  const Counters& from = whole_.counters;
  Counters& to = part_.counters;
  for (const CounterSeries& series : from.series) {
    const auto first = static_cast<std::uint32_t>(to.size());
    for (std::uint32_t i = series.first; i < series.first + series.count; ++i) {
      if (!keeps_time(from.time[i])) continue;
      to.time.push_back(from.time[i] - origin_);
      to.value.push_back(from.value[i]);
    }
    const auto count = static_cast<std::uint32_t>(to.size()) - first;
    if (count > 0)
      to.series.push_back({string(series.name), string(series.series), track_[series.track], first, count});
  }
}

}  // namespace

bool overlaps(const Events& events, EventId event, Interval window) {
  const Nanoseconds start = events.start[event];
  if (start >= window.end) return false;
  return events.duration[event] == 0 ? start >= window.begin : events.end(event) > window.begin;
}

Selection selection_of(const Trace& trace, Interval window) {
  Selection selection{std::vector<bool>(trace.events.size()), {window}};
  for (EventId event = 0; event < trace.events.size(); ++event)
    selection.events[event] = overlaps(trace.events, event, window);
  return selection;
}

Trace slice(const Trace& trace, const Selection& selection) { return Slicing(trace, selection).run(); }

}  // namespace telltale
