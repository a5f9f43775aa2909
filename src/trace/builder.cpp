#include "trace/builder.h"

#include <algorithm>
#include <limits>
#include <map>
#include <span>

#include "base/merge_runs.h"
#include "base/parallel.h"
#include "base/release.h"
#include "trace/allocator_rows.h"
#include "trace/device_list.h"
#include "trace/event_order.h"
#include "trace/flows.h"
#include "trace/graph_origins.h"
#include "trace/linking.h"
#include "trace/nesting.h"
#include "trace/step_marks.h"
#include "trace/track_list.h"
#include "trace/translator.h"

namespace telltale {
namespace {

// A clock that shows at least so much (1973) shows the time of day, not the time since some start.
constexpr Nanoseconds kEarliestWallClock = 100'000'000'000'000'000;

// The building of one trace, step by step: each member function is one step, in the order of run().
class Assembly {
 public:
  Assembly(std::vector<EventBatch> batches, Trace trace, unsigned threads)
      : batches_(std::move(batches)), trace_(std::move(trace)), threads_(threads), translator_(trace_.strings) {}

  Result<Trace> run(std::span<const NamedLabel> labels, std::optional<std::int64_t> clock_epoch_ns) {
    std::size_t rows = 0;
    for (const EventBatch& batch : batches_) rows += batch.events.size();
    if (rows >= kNoEvent) return failure("holds more events than we can number (4 thousand million)");

    translate_rows();
    find_origin(clock_epoch_ns);
    make_tracks(translator_, labels, trace_);
    event_of_row_ = order_events(batches_, origin_, trace_, threads_);
    nest_rows();
    add_details();
    find_graph_origins();
    add_allocator_rows(batches_, translator_, origin_, trace_);
    order_counters();
    trace_.steps = marked_steps(trace_);
    describe();
    return std::move(trace_);
  }

 private:
  // Rows first, then memory events, then counters: so tracks are numbered the same way however the file was cut.
  void translate_rows() {
    std::uint32_t row = 0;
    for (EventBatch& batch : batches_) {
      translator_.select(*batch.names);
      first_row_.push_back(row);
      row += static_cast<std::uint32_t>(batch.events.size());
      for (BatchEvent& event : batch.events) {
        event.name = translator_.string(event.name);
        event.track = translator_.track(event.track);
      }
    }
    for (EventBatch& batch : batches_) {
      translator_.select(*batch.names);
      for (BatchMemoryEvent& event : batch.memory) {
        event.track = translator_.track(event.track);
        event.pool = translator_.string(event.pool);
        has_pools_ |= event.pool != kEmptyString;
      }
    }
    for (EventBatch& batch : batches_) {
      translator_.select(*batch.names);
      for (BatchCounter& counter : batch.counters) {
        counter.track = translator_.track(counter.track);
        counter.name = translator_.string(counter.name);
        counter.series = translator_.string(counter.series);
      }
    }
  }

  void find_origin(std::optional<std::int64_t> clock_epoch_ns) {
    Nanoseconds first = std::numeric_limits<Nanoseconds>::max(), last = std::numeric_limits<Nanoseconds>::min();
    for (const EventBatch& batch : batches_) {
      for (const BatchEvent& event : batch.events) {
        first = std::min(first, event.start);
        if (event.kind != Kind::kInstant) last = std::max(last, event.start + event.duration);
      }
      for (const BatchMemoryEvent& event : batch.memory) first = std::min(first, event.time);
      for (const BatchCounter& counter : batch.counters) first = std::min(first, counter.time);
      first = std::min(first, first_allocator_row(batch));
    }
    if (first == std::numeric_limits<Nanoseconds>::max()) return;
    origin_ = first;
    if (last > first) trace_.duration = last - first;
    if (clock_epoch_ns) {
      if (__builtin_add_overflow(*clock_epoch_ns, first, &trace_.origin_epoch_ns)) trace_.origin_epoch_ns = 0;
    } else if (first >= kEarliestWallClock) {
      trace_.origin_epoch_ns = first;
    }
  }

  void nest_rows();
  void fill_side_tables();
  void add_details();
  template <typename IsWanted>
  std::vector<EventLink> gather_links(IsWanted is_wanted) const;
  void note(Anomaly anomaly, const std::vector<EventId>& events);
  std::vector<FlowList> gather_flows();
  FlowPlaces tracks_of_places() const;
  void place_memory_events();
  void find_graph_origins();
  void order_counters();
  void describe();

  EventId event_of(std::size_t batch, BatchRow row) const { return event_of_row_[first_row_[batch] + row]; }

  // One side table of the batches to that of the trace, in the order of the events.
  template <typename Detail>
  void fill(SideTable<Detail>& table, auto table_of, auto description) {
    struct Entry {
      EventId event;
      Detail detail;
    };
    std::size_t count = 0;
    for (const EventBatch& batch : batches_) count += table_of(batch).size();
    std::vector<Entry> entries;
    entries.reserve(count);
    for (std::size_t b = 0; b < batches_.size(); ++b) {
      translator_.select(*batches_[b].names);
      for (BatchDetail<Detail>& detail : table_of(batches_[b])) {
        change_ids(detail.detail, description, translator_);
        entries.push_back({event_of(b, detail.row), detail.detail});
      }
      release(table_of(batches_[b]));
    }
    merge_runs(std::span(entries), [](const Entry& a, const Entry& b) { return a.event < b.event; });
    table.reserve(count);
    for (const Entry& entry : entries) table.append(entry.event, entry.detail);
  }

  std::vector<EventBatch> batches_;
  Trace trace_;
  unsigned threads_;
  Translator translator_;
  std::vector<std::uint32_t> first_row_;  // of each batch
  std::vector<EventId> event_of_row_;
  Nanoseconds origin_ = 0;
  bool has_pools_ = false;
};

void Assembly::nest_rows() {
  std::vector<char> has_overlap(trace_.tracks.size());
  parallel_for(trace_.tracks.size(), threads_,
               [&](std::size_t i) { has_overlap[i] = nest(trace_.events, trace_.tracks[i]); });
  for (std::size_t i = 0; i < trace_.tracks.size(); ++i) {
    if (!has_overlap[i]) continue;
    const Track& track = trace_.tracks[i];
    bool has_too_many = false;
    const auto lanes = lanes_of(trace_.events, track, has_too_many);
    for (EventId k = 0; k < track.event_count; ++k)
      if (lanes[k] > 0) trace_.lanes.append(track.first_event + k, lanes[k]);
    if (has_too_many) trace_.anomalies.add(Anomaly::kTooManyLanes, 0, trace_.strings[track.name]);
  }
}

void Assembly::fill_side_tables() {
  for_each_side_table([&](const TableInfo& info, auto table_of, auto description) {
    if (!info.is_worked_out) fill(table_of(trace_), table_of, description);
  });
  translator_.take_shared_rows(trace_);
}

// Three jobs that need nothing of one another; only the first one touches the strings.
void Assembly::add_details() {
  std::vector<FlowList> flows;
  LinkTrouble launches;
  parallel_for(3, threads_, [&](std::size_t job) {
    if (job == 0) {
      fill_side_tables();
      flows = gather_flows();
    } else if (job == 1) {
      const auto is_operator = [this](EventId event) { return trace_.events.kind[event] == Kind::kOperator; };
      const auto is_launch_or_launched = [this](EventId event) {
        return is_api_call(trace_.events.kind[event]) || is_on_device(trace_.events.kind[event]);
      };
      launches =
          link_launches(trace_.events, gather_links(is_launch_or_launched), [&] { return gather_links(is_operator); });
    } else {
      place_memory_events();
    }
  });
  const auto threads = link_flows(trace_, std::move(flows), tracks_of_places());
  const LinkTrouble backwards = link_backward(trace_, threads);
  std::erase_if(launches.lost, [this](EventId event) { return trace_.events.cause[event] != kNoEvent; });
  note(Anomaly::kDuplicateCorrelation, launches.ambiguous);
  note(Anomaly::kDeviceWithoutLaunch, launches.lost);
  note(Anomaly::kBackwardWithoutForward, backwards.lost);
}

template <typename IsWanted>
std::vector<EventLink> Assembly::gather_links(IsWanted is_wanted) const {
  std::size_t count = 0;
  for (const EventBatch& batch : batches_) count += batch.links.size();
  std::vector<EventLink> links;
  links.reserve(count);
  for (std::size_t b = 0; b < batches_.size(); ++b) {
    for (const BatchLink& link : batches_[b].links) {
      const EventId event = event_of(b, link.row);
      if (is_wanted(event)) links.push_back({event, link.correlation, link.external_id});
    }
  }
  return links;
}

void Assembly::note(Anomaly anomaly, const std::vector<EventId>& events) {
  if (events.empty()) return;
  std::vector<std::uint32_t> row_of_event(event_of_row_.size());
  for (std::uint32_t row = 0; row < event_of_row_.size(); ++row) row_of_event[event_of_row_[row]] = row;
  for (const EventId event : events) {
    const std::uint32_t row = row_of_event[event];
    const auto behind = std::upper_bound(first_row_.begin(), first_row_.end(), row);
    const auto batch = static_cast<std::size_t>(behind - first_row_.begin()) - 1;
    trace_.anomalies.add(anomaly, batches_[batch].offsets[row - first_row_[batch]], trace_.name(event));
  }
}

std::vector<FlowList> Assembly::gather_flows() {
  std::vector<std::size_t> counts;
  for (const EventBatch& batch : batches_) {
    translator_.select(*batch.names);
    for (const BatchFlowPoint& point : batch.flows) {
      const std::uint32_t kind = translator_.flow_kind(point.kind);
      if (kind == counts.size()) counts.push_back(0);
      ++counts[kind];
    }
  }
  std::vector<FlowList> lists(counts.size());
  for (std::uint32_t kind = 0; kind < lists.size(); ++kind) {
    lists[kind].kind = translator_.flow_kinds()[kind];
    lists[kind].points.reserve(counts[kind]);
  }
  for (EventBatch& batch : batches_) {
    translator_.select(*batch.names);
    for (const BatchFlowPoint& point : batch.flows)
      lists[translator_.flow_kind(point.kind)].points.push_back(
          {point.time - origin_, point.byte_offset, point.id_number, translator_.string(point.id),
           translator_.flow_place(point.place), point.role, point.binds_to_next});
    release(batch.flows);
  }
  return lists;
}

FlowPlaces Assembly::tracks_of_places() const {
  TracksByPlace tracks_at(translator_.tracks());
  FlowPlaces tracks;
  for (std::size_t p = 0; p < translator_.flow_places().size(); ++p)
    tracks.push_back(tracks_at(translator_.flow_places()[p]));
  return tracks;
}

void Assembly::place_memory_events() {
  std::size_t count = 0;
  for (const EventBatch& batch : batches_) count += batch.memory.size();
  std::vector<BatchMemoryEvent> events;
  events.reserve(count);
  for (EventBatch& batch : batches_) {
    events.insert(events.end(), batch.memory.begin(), batch.memory.end());
    release(batch.memory);
  }
  merge_runs(std::span(events), [](const BatchMemoryEvent& a, const BatchMemoryEvent& b) { return a.time < b.time; });
  MemoryEvents& memory = trace_.memory;
  memory.reserve(events.size());
  if (events.empty()) return;
  const OpenRows open_rows(trace_.events);
  std::vector<EventId> hints(trace_.tracks.size(), 0);
  for (const BatchMemoryEvent& event : events) {
    const Nanoseconds time = event.time - origin_;
    memory.time.push_back(time);
    memory.address.push_back(event.address);
    memory.bytes.push_back(event.bytes);
    memory.total_allocated.push_back(event.total_allocated);
    memory.total_reserved.push_back(event.total_reserved);
    memory.device.push_back(event.device);
    memory.track.push_back(event.track);
    memory.event.push_back(open_rows.innermost_at(trace_.tracks[event.track], time, hints[event.track]));
    if (has_pools_) memory.pool.push_back(event.pool);
  }
}

void Assembly::find_graph_origins() {
  std::vector<CapturedNode> nodes;
  for (const EventBatch& batch : batches_) {
    translator_.select(*batch.names);
    for (const BatchCapturedNode& node : batch.captured_nodes)
      nodes.push_back({node.time - origin_, translator_.known_track(node.track), node.node, node.original,
                       translator_.string(node.call_stack)});
  }
  add_graph_origins(std::move(nodes), trace_);
}

void Assembly::order_counters() {
  using SeriesKey = std::tuple<TrackId, StringId, StringId>;
  std::map<SeriesKey, std::size_t> known;
  std::vector<std::vector<BatchCounter>> values;
  Counters& counters = trace_.counters;
  for (const EventBatch& batch : batches_) {
    for (const BatchCounter& counter : batch.counters) {
      const auto [at, is_new] =
          known.try_emplace(SeriesKey{counter.track, counter.name, counter.series}, values.size());
      if (is_new) {
        values.emplace_back();
        counters.series.push_back({counter.name, counter.series, counter.track, 0, 0});
      }
      values[at->second].push_back(counter);
    }
  }
  for (std::size_t s = 0; s < values.size(); ++s) {
    merge_runs(std::span(values[s]), [](const BatchCounter& a, const BatchCounter& b) { return a.time < b.time; });
    counters.series[s].first = static_cast<std::uint32_t>(counters.size());
    counters.series[s].count = static_cast<std::uint32_t>(values[s].size());
    for (const BatchCounter& counter : values[s]) {
      counters.time.push_back(counter.time - origin_);
      counters.value.push_back(counter.value);
    }
  }
}

// What can be said only when everything stands in its place.
void Assembly::describe() {
  for (const EventBatch& batch : batches_) trace_.anomalies.merge(batch.anomalies);
  list_devices(trace_);
  const auto has_kind = [&](Kind kind) {
    return std::find(trace_.events.kind.begin(), trace_.events.kind.end(), kind) != trace_.events.kind.end();
  };
  Recorded& recorded = trace_.recorded;
  recorded.shapes |= !trace_.operator_inputs.empty();
  const auto has_stack = [](const auto& of) { return of.call_stack != kEmptyString; };
  recorded.stacks |= !trace_.operator_stacks.empty() || has_kind(Kind::kPython) ||
                     std::ranges::any_of(trace_.allocator_events, has_stack) ||
                     std::ranges::any_of(trace_.memory_blocks, has_stack);
  recorded.memory |= trace_.memory.size() > 0;
  recorded.modules |= has_kind(Kind::kModule);
  trace_.strings.shrink();
}

}  // namespace

Result<Trace> TraceBuilder::build(Trace trace, std::optional<std::int64_t> clock_epoch_ns, unsigned threads) && {
  return Assembly(std::move(batches_), std::move(trace), threads).run(labels_, clock_epoch_ns);
}

}  // namespace telltale
