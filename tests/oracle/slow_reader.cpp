#include "slow_reader.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "slow_arguments.h"
#include "slow_flows.h"
#include "slow_header.h"
#include "slow_labels.h"
#include "slow_ranges.h"

namespace telltale::oracle {
namespace {

// Clocks that show at least 10^14 microseconds (1973) show the time of day.
constexpr Nanoseconds kEarliestTimeOfDay = 100'000'000'000'000'000;

struct SlowMemoryEvent {
  const SlowEvent* event;
  SlowTrackKey track;
};

struct SlowCounterValue {
  const SlowEvent* event;
  SlowTrackKey track;
  std::string series;
  double value;
};

int nesting_rank(Kind kind) {
  if (kind == Kind::kAnnotation || kind == Kind::kModule || kind == Kind::kPython) return 0;
  if (kind == Kind::kOperator) return 1;
  if (kind == Kind::kRuntime || kind == Kind::kDriver) return 2;
  return 3;
}

class SlowReader {
 public:
  explicit SlowReader(SlowDocument document) : document_(std::move(document)) {
    trace_.anomalies = document_.anomalies;
  }

  SlowTrace run() {
    rows_ = slow_rows(document_, trace_.anomalies);
    take_memory_events();
    take_counters();
    number_tracks();
    name_format();
    const auto base_time = fill_header(document_.header, trace_);
    find_origin(base_time);
    write_events();
    link_parents(trace_);
    lay_in_lanes(trace_);
    fill_side_tables(rows_, trace_);
    check_ranges();
    link_launches(rows_, trace_);
    link_flows(document_.events, track_keys_, rows_, origin_, trace_);
    count_work_without_launch();
    find_steps(trace_);
    write_memory();
    write_counters();
    name_places(document_, track_keys_, process_ids_, trace_);
    list_devices();
    describe_recording();
    SlowTrace slow{std::move(trace_), {}, {}, {}};
    answer_questions(slow);
    return slow;
  }

 private:
  void note(Anomaly anomaly, const SlowEvent& event) { trace_.anomalies.add(anomaly, event.byte_offset); }

  void take_memory_events() {
    for (const SlowEvent& event : document_.events) {
      if (!is_memory_event(event)) continue;
      if (address_in(event.arguments, "Addr") && integer_in(event.arguments, "Bytes"))
        memory_.push_back({&event, {event.process, event.thread, TrackKind::kThread, kHost}});
      else
        note(Anomaly::kIncompleteMemoryEvent, event);
    }
  }

  void take_counters() {
    for (const SlowEvent& event : document_.events) {
      if (event.phase != 'C') continue;
      if (!is_object(event.raw_arguments)) note(Anomaly::kUnusableCounter, event);
      for (const JsonMember& member : event.arguments) {
        const auto value = real_in(member.raw);
        if (value)
          counters_.push_back({&event, {event.process, event.thread, TrackKind::kCounter, kHost}, member.key, *value});
        else
          note(Anomaly::kUnusableCounter, event);
      }
    }
  }

  void count_work_without_launch() {
    for (EventId event = 0; event < trace_.events.size(); ++event)
      if (is_device_work(trace_.events.kind[event]) && trace_.events.cause[event] == kNoEvent)
        note(Anomaly::kDeviceWithoutLaunch, *rows_[event].event);
  }

  void check_ranges() {
    std::vector<const SlowEvent*> memory;
    for (const SlowMemoryEvent& one : memory_) memory.push_back(one.event);
    count_numbers_out_of_range(rows_, memory, trace_.anomalies);
  }

  // In the order in which the file first mentions them: for rows, then for memory events, then for counters.
  void number_tracks() {
    std::vector<SlowTrackKey> mentions;
    for (const SlowRow& row : rows_) mentions.push_back(row.track);
    for (const SlowMemoryEvent& memory : memory_) mentions.push_back(memory.track);
    for (const SlowCounterValue& counter : counters_) mentions.push_back(counter.track);
    for (const SlowTrackKey& key : mentions) {
      if (!track_ids_.emplace(key, static_cast<TrackId>(track_keys_.size())).second) continue;
      track_keys_.push_back(key);
      if (std::ranges::find(process_ids_, key.process) == process_ids_.end()) process_ids_.push_back(key.process);
    }
  }

  void find_origin(std::optional<std::int64_t> base_time) {
    std::vector<Nanoseconds> times;
    for (const SlowRow& row : rows_) times.push_back(row.start);
    for (const SlowMemoryEvent& memory : memory_) times.push_back(memory.event->time);
    for (const SlowCounterValue& counter : counters_) times.push_back(counter.event->time);
    if (times.empty()) return;
    origin_ = std::ranges::min(times);
    Nanoseconds epoch = 0;
    if (base_time && !__builtin_add_overflow(*base_time, origin_, &epoch)) trace_.origin_epoch_ns = epoch;
    if (!base_time && origin_ >= kEarliestTimeOfDay) trace_.origin_epoch_ns = origin_;
  }

  void write_events() {
    std::ranges::stable_sort(rows_, {}, [&](const SlowRow& row) {
      return std::tuple(track_ids_[row.track], row.start, row.start - row.end, nesting_rank(row.kind));
    });
    trace_.tracks.resize(track_keys_.size());
    Events& events = trace_.events;
    for (const SlowRow& row : rows_) {
      const TrackId id = track_ids_[row.track];
      Track& track = trace_.tracks[id];
      if (track.event_count++ == 0) track.first_event = static_cast<EventId>(events.size());
      events.start.push_back(row.start - origin_);
      events.duration.push_back(row.end - row.start);
      events.name.push_back(trace_.strings.intern(row.event->name));
      events.kind.push_back(row.kind);
      events.track.push_back(id);
      events.cause.push_back(kNoEvent);
      if (row.kind != Kind::kInstant) trace_.duration = std::max(trace_.duration, row.end - origin_);
    }
    EventId next = 0;
    for (Track& track : trace_.tracks) {
      track.first_event = next;
      next += track.event_count;
    }
  }

  void write_memory() {
    MemoryEvents& memory = trace_.memory;
    std::ranges::stable_sort(memory_, {}, [](const SlowMemoryEvent& one) { return one.event->time; });
    for (const auto& [event, key] : memory_) {
      const auto& arguments = event->arguments;
      const TrackId track = track_ids_[key];
      memory.time.push_back(event->time - origin_);
      memory.address.push_back(*address_in(arguments, "Addr"));
      memory.bytes.push_back(*integer_in(arguments, "Bytes"));
      memory.total_allocated.push_back(integer_in(arguments, "Total Allocated").value_or(-1));
      memory.total_reserved.push_back(integer_in(arguments, "Total Reserved").value_or(-1));
      const bool is_host = integer_in(arguments, "Device Type").value_or(0) == 0;
      memory.device.push_back(is_host ? kHost : small_integer_in(arguments, "Device Id").value_or(0));
      memory.track.push_back(track);
      const auto pool = find(arguments, "Memory pool");
      memory.pool.push_back(pool ? trace_.strings.intern(text_of(*pool)) : kEmptyString);
      memory.event.push_back(innermost_at(trace_, track, event->time - origin_));
    }
  }

  void write_counters() {
    Counters& counters = trace_.counters;
    using Series = std::tuple<TrackId, std::string, std::string>;
    std::vector<Series> order;
    std::map<Series, std::vector<const SlowCounterValue*>> values;
    for (const SlowCounterValue& value : counters_) {
      const Series series{track_ids_[value.track], value.event->name, value.series};
      if (!values.contains(series)) order.push_back(series);
      values[series].push_back(&value);
    }
    for (const Series& series : order) {
      auto& points = values[series];
      std::ranges::stable_sort(points, {}, [](const SlowCounterValue* value) { return value->event->time; });
      const auto& [track, name, part] = series;
      counters.series.push_back({trace_.strings.intern(name), trace_.strings.intern(part), track,
                                 static_cast<std::uint32_t>(counters.size()),
                                 static_cast<std::uint32_t>(points.size())});
      for (const SlowCounterValue* value : points) {
        counters.time.push_back(value->event->time - origin_);
        counters.value.push_back(value->value);
      }
    }
  }

  // Those that the header describes and those that work was done on, by number. Where the header's are all alike, a
  // number that is not among them is another number of one that no work was done on.
  void list_devices() {
    std::map<DeviceId, std::string> labels;
    for (const Track& track : trace_.tracks)
      if (track.device != kHost) labels.emplace(track.device, trace_.strings[trace_.processes[track.process].labels]);
    std::set<DeviceId> described;
    std::set<std::tuple<std::string, std::optional<int>, std::optional<int>, std::optional<int>>> looks;
    for (const Device& device : trace_.devices) {
      described.insert(device.id);
      looks.insert({device.name, device.multiprocessors, device.compute_major, device.compute_minor});
    }
    for (const auto& [id, label] : labels) {
      if (described.contains(id)) continue;
      Device* device = nullptr;
      for (Device& other : trace_.devices)
        if (looks.size() == 1 && device == nullptr && !labels.contains(other.id)) device = &other;
      if (device == nullptr)
        device = &trace_.devices.emplace_back(looks.size() == 1 ? Device(trace_.devices.front()) : Device());
      device->id = id;
    }
    std::ranges::stable_sort(trace_.devices, {}, &Device::id);
    for (Device& device : trace_.devices) {
      std::string label = labels[device.id];
      while (!label.empty() && (label.back() == ' ' || std::isdigit(static_cast<unsigned char>(label.back()))))
        label.pop_back();
      if (device.name.empty() && label != "GPU" && label != "CPU") device.name = label;
    }
  }

  // Kineto's own keys, categories and memory events tell its traces from those of other tools.
  void name_format() {
    static const std::set<std::string> kKeys = {
        "schemaVersion", "deviceProperties", "distributedInfo", "baseTimeNanoseconds", "traceName", "trace_id",
        "record_shapes", "with_stack",       "profile_memory",  "with_modules",        "with_flops"};
    bool is_kineto = !memory_.empty();
    for (const JsonMember& member : document_.header) is_kineto |= kKeys.contains(member.key);
    for (const SlowRow& row : rows_)
      is_kineto |= row.kind != Kind::kOther && row.kind != Kind::kDeviceOther && row.kind != Kind::kInstant &&
                   row.kind != Kind::kAsync;
    trace_.format = is_kineto ? "kineto" : "chrome";
  }

  // What the events carry was recorded, whatever the header says.
  void describe_recording() {
    Recorded& recorded = trace_.recorded;
    recorded.shapes |= !trace_.operator_inputs.empty();
    recorded.memory |= trace_.memory.size() > 0;
    recorded.stacks |= !trace_.operator_stacks.empty() || std::ranges::count(trace_.events.kind, Kind::kPython) > 0;
    recorded.modules |= std::ranges::count(trace_.events.kind, Kind::kModule) > 0;
  }

  SlowDocument document_;
  Trace trace_;
  std::vector<SlowRow> rows_;
  std::vector<SlowMemoryEvent> memory_;
  std::vector<SlowCounterValue> counters_;
  std::vector<SlowTrackKey> track_keys_;
  std::map<SlowTrackKey, TrackId> track_ids_;
  std::vector<SlowId> process_ids_;
  Nanoseconds origin_ = 0;
};

}  // namespace

std::optional<SlowTrace> slow_read(std::string_view text) {
  auto document = slow_document(text);
  if (!document) return std::nullopt;
  SlowTrace slow = SlowReader(std::move(*document)).run();
  slow.trace.text_bytes = text.size();
  return slow;
}

}  // namespace telltale::oracle
