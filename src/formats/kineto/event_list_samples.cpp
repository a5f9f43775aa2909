// The parts of the event list that are no rows: names of places, memory events, values of counters.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "formats/kineto/event_list_text.h"
#include "formats/kineto/spellings.h"

namespace telltale::kineto {
namespace {

// The runs of memory events of the same time in which tracks that have nothing else appear for the first time, in the
// order of the tracks. Readers number such tracks in the order of the file.
std::vector<std::size_t> runs_to_write_first(const Trace& trace) {
  std::vector<std::size_t> first_run(trace.tracks.size(), SIZE_MAX);
  std::size_t run = 0;
  for (std::size_t row = 0; row < trace.memory.size(); ++row) {
    if (trace.memory.time[row] != trace.memory.time[run]) run = row;
    std::size_t& first = first_run[trace.memory.track[row]];
    if (first == SIZE_MAX) first = run;
  }
  std::vector<std::size_t> runs;
  for (TrackId id = 0; id < trace.tracks.size(); ++id)
    if (trace.tracks[id].event_count == 0 && first_run[id] != SIZE_MAX) runs.push_back(first_run[id]);
  return std::ranges::is_sorted(runs) ? std::vector<std::size_t>() : runs;
}

bool have_same_times(const Counters& counters, const CounterSeries& a, const CounterSeries& b) {
  if (a.name != b.name || a.track != b.track || a.series == b.series || a.count != b.count) return false;
  const auto times = counters.time.begin();
  return std::equal(times + a.first, times + a.first + a.count, times + b.first);
}

}  // namespace

void EventListText::write_process_labels() {
  for (ProcessId id = 0; id < trace_.processes.size(); ++id) {
    const Process& process = trace_.processes[id];
    const auto start = [&](std::string_view what) -> TextWriter& {
      return next() << R"({"ph":"M","name":")" << what << R"(","pid":)" << places_.pid(id) << R"(,"tid":0,"args":{)";
    };
    const std::string name = json_string(trace_.strings[process.name]);
    if (process.name != kEmptyString && name != places_.pid(id)) start("process_name") << "\"name\":" << name << "}}";
    if (process.labels != kEmptyString)
      start("process_labels") << "\"labels\":" << InJson{trace_.strings[process.labels]} << "}}";
    if (process.sort_index != 0) start("process_sort_index") << "\"sort_index\":" << process.sort_index << "}}";
  }
}

void EventListText::write_place_labels() {
  for (const Place& place : places_.all()) {
    const Track* named = nullptr;    // the first one with a name of its own
    const Track* ordered = nullptr;  // the first one with a place in the order
    for (const TrackId id : place.tracks) {
      const Track& track = trace_.tracks[id];
      const std::string_view name = trace_.strings[track.name];
      const bool has_own_name = name != default_track_name(track) && json_string(name) != place.tid;
      if (has_own_name && named == nullptr) named = &track;
      if (track.sort_index != 0 && ordered == nullptr) ordered = &track;
    }
    const auto start = [&](std::string_view what) -> TextWriter& {
      return next() << R"({"ph":"M","name":")" << what << R"(","pid":)" << places_.pid(place.process) << R"(,"tid":)"
                    << place.tid << R"(,"args":{)";
    };
    const Track& first = trace_.tracks[place.tracks.front()];
    const bool is_default = named == nullptr && place.tracks.size() == 1 && first.native_id != 0;
    if (named != nullptr || is_default)
      start("thread_name") << "\"name\":" << InJson{trace_.strings[named != nullptr ? named->name : first.name]}
                           << "}}";
    if (ordered != nullptr) start("thread_sort_index") << "\"sort_index\":" << ordered->sort_index << "}}";
    for (const TrackId id : place.tracks) {
      const Track& track = trace_.tracks[id];
      lost_labels_ += named != nullptr && track.name != named->name ? 1 : 0;
      lost_labels_ += ordered != nullptr && track.sort_index != ordered->sort_index ? 1 : 0;
    }
  }
}

void EventListText::write_memory() {
  const MemoryEvents& memory = trace_.memory;
  std::set<std::size_t> written;  // runs, by their first row
  for (const std::size_t run : runs_to_write_first(trace_)) {
    if (!written.insert(run).second) continue;
    for (std::size_t row = run; row < memory.size() && memory.time[row] == memory.time[run]; ++row)
      write_memory_event(row);
  }
  for (std::size_t row = 0, run = 0; row < memory.size() && !out_.has_failed(); ++row) {
    if (memory.time[row] != memory.time[run]) run = row;
    if (!written.contains(run)) write_memory_event(row);
  }
}

void EventListText::write_memory_event(std::size_t row) {
  const MemoryEvents& memory = trace_.memory;
  const bool is_host = memory.device[row] == kHost;
  next() << R"({"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]")";
  write_place_and_time(memory.track[row], memory.time[row]);
  out_ << R"(,"args":{)";
  const auto add = [&](Attribute key, auto value) { out_ << '"' << spelling_of(key) << "\":" << value << ','; };
  if (memory.total_reserved[row] != -1) add(Attribute::kTotalReserved, memory.total_reserved[row]);
  if (memory.total_allocated[row] != -1) add(Attribute::kTotalAllocated, memory.total_allocated[row]);
  add(Attribute::kMemoryBytes, memory.bytes[row]);
  add(Attribute::kMemoryDeviceId, memory.device[row]);
  add(Attribute::kMemoryDeviceType, is_host ? 0 : 1);
  if (!memory.pool.empty() && memory.pool[row] != kEmptyString)
    add(Attribute::kMemoryPool, InJson{trace_.strings[memory.pool[row]]});
  out_ << '"' << spelling_of(Attribute::kMemoryAddress) << "\":" << memory.address[row] << "}}";
}

// Series of one counter stand together where they have values at the same times: viewers draw them as one.
void EventListText::write_counters() {
  const std::vector<CounterSeries>& series = trace_.counters.series;
  for (std::size_t first = 0; first < series.size();) {
    std::size_t behind = first + 1;
    std::set<StringId> names = {series[first].series};
    while (behind < series.size() && have_same_times(trace_.counters, series[first], series[behind]) &&
           names.insert(series[behind].series).second)
      ++behind;
    lost_values_ += write_counter(first, behind);
    first = behind;
  }
}

// Returns how many values could not be written.
std::uint64_t EventListText::write_counter(std::size_t first_series, std::size_t behind) {
  const Counters& counters = trace_.counters;
  const CounterSeries& first = counters.series[first_series];
  std::uint64_t lost = 0;
  for (std::uint32_t i = 0; i < first.count && !out_.has_failed(); ++i) {
    std::string_view before_value = ",\"args\":{";
    for (std::size_t s = first_series; s < behind; ++s) {
      const double value = counters.value[counters.series[s].first + i];
      if (!std::isfinite(value)) {
        ++lost;
        continue;
      }
      if (before_value != ",") {
        next() << R"({"ph":"C","name":)" << InJson{trace_.strings[first.name]};
        write_place_and_time(first.track, counters.time[first.first + i]);
      }
      out_ << std::exchange(before_value, ",") << InJson{trace_.strings[counters.series[s].series]} << ':' << value;
    }
    if (before_value == ",") out_ << "}}";
  }
  return lost;
}

}  // namespace telltale::kineto
