// How long it takes to make a long trace ready to be looked at, what that costs in memory, and how long a look takes
// then: tiles at random places and zooms, all tracks at once, as bytes for the page; search; ranges.
//
// The trace is made up in memory: a thread with Python calls, operators and launches, one with backward operators, and
// a stream, over and over, with durations that vary. Usage: timeline_bench [EVENTS], 50 million without.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "answers/view.h"
#include "answers/view_range.h"
#include "answers/view_search.h"
#include "answers/view_tiles.h"
#include "stopwatch.h"
#include "timeline/timeline.h"
#include "trace/nesting.h"
#include "trace/trace.h"

namespace telltale {
namespace {

// Of one thread or stream, in the order of a trace.
class TrackWriter {
 public:
  TrackWriter(Trace& trace, TrackKind kind, std::string_view name, DeviceId device) : trace_(trace) {
    trace.tracks.push_back({.name = trace.strings.intern(name),
                            .kind = kind,
                            .device = device,
                            .first_event = static_cast<EventId>(trace.events.size())});
  }

  EventId add(Kind kind, StringId name, Nanoseconds start, Nanoseconds duration, EventId cause = kNoEvent) {
    Events& events = trace_.events;
    events.start.push_back(start);
    events.duration.push_back(duration);
    events.name.push_back(name);
    events.kind.push_back(kind);
    events.track.push_back(static_cast<TrackId>(trace_.tracks.size() - 1));
    events.parent.push_back(kNoEvent);
    events.cause.push_back(cause);
    trace_.duration = std::max(trace_.duration, start + duration);
    return static_cast<EventId>(events.size() - 1);
  }

  void finish() {
    Track& track = trace_.tracks.back();
    track.event_count = static_cast<EventId>(trace_.events.size()) - track.first_event;
    nest(trace_.events, track);
  }

 private:
  Trace& trace_;
};

constexpr std::size_t kEventsOfRound = 26;
constexpr Nanoseconds kRound = 120'000, kCall = 25'000;
constexpr int kCalls = 4;

std::vector<StringId> names(Trace& trace, const std::string& stem, int count) {
  std::vector<StringId> ids;
  for (int i = 0; i < count; ++i) ids.push_back(trace.strings.intern(stem + std::to_string(i)));
  return ids;
}

Trace made_up(std::size_t events) {
  Trace trace;
  trace.processes.emplace_back();
  trace.devices.push_back({.id = 0, .name = "made up"});
  const std::size_t rounds = events / kEventsOfRound;
  const auto python = names(trace, "train.py(1): function ", 300), operators = names(trace, "aten::operator_", 200);
  const auto kernels = names(trace, "void kernel<float>(int) ", 100), backward = names(trace, "Backward", 200);
  const StringId launch = trace.strings.intern("cudaLaunchKernel");
  std::mt19937 random(1);
  const auto pick = [&](const std::vector<StringId>& from) { return from[random() % from.size()]; };

  std::vector<EventId> launches;
  launches.reserve(rounds * kCalls);
  TrackWriter main(trace, TrackKind::kThread, "thread 1 (main)", kHost);
  for (std::size_t round = 0; round < rounds; ++round) {
    const auto at = static_cast<Nanoseconds>(round) * kRound;
    main.add(Kind::kPython, pick(python), at, kRound - 1000);
    main.add(Kind::kPython, pick(python), at + 1000, kRound - 5000);
    for (int call = 0; call < kCalls; ++call) {
      const Nanoseconds begin = at + 5000 + call * kCall;
      const Nanoseconds length = 8000 + static_cast<Nanoseconds>(random() % 16'000);
      main.add(Kind::kOperator, pick(operators), begin, length);
      main.add(Kind::kOperator, pick(operators), begin + 500, length - 1000);
      launches.push_back(main.add(Kind::kRuntime, launch, begin + length / 2, 3000));
    }
  }
  main.finish();
  TrackWriter autograd(trace, TrackKind::kThread, "thread 2 (autograd)", kHost);
  for (std::size_t i = 0; i < rounds * kCalls; ++i) {
    const auto begin = static_cast<Nanoseconds>(i) * (kRound / kCalls);
    const Nanoseconds length = 5000 + static_cast<Nanoseconds>(random() % 20'000);
    autograd.add(Kind::kOperator, pick(backward), begin, length);
    autograd.add(Kind::kOperator, pick(operators), begin + 300, length - 600);
  }
  autograd.finish();
  TrackWriter stream(trace, TrackKind::kStream, "stream 7", 0);
  Nanoseconds free_at = 0;
  for (const EventId each : launches) {
    const Nanoseconds begin = std::max(free_at, trace.events.end(each) + 2000);
    const Nanoseconds length = 1000 + static_cast<Nanoseconds>(random() % 35'000);
    stream.add(Kind::kKernel, pick(kernels), begin, length, each);
    free_at = begin + length;
  }
  stream.finish();
  trace.format = "made up";
  return trace;
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Both clocks, for one answer after the other.
struct Times {
  std::vector<double> wall, processor;

  template <typename Work>
  void measure(Work work) {
    bench::Stopwatch watch;
    const double before = processor_seconds();
    work();
    processor.push_back(processor_seconds() - before);
    wall.push_back(watch.lap());
  }
};

double at_share(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

void print_times(const char* what, Times times) {
  for (auto* seconds : {&times.wall, &times.processor}) {
    std::ranges::sort(*seconds);
    std::printf("%-44s p50 %8.2f ms   p99 %8.2f ms   most %8.2f ms\n",
                seconds == &times.wall ? what : "  on the processor", 1e3 * at_share(*seconds, 0.5),
                1e3 * at_share(*seconds, 0.99), 1e3 * seconds->back());
  }
}

void measure_tiles(const answers::View& view) {
  const Timeline& timeline = *view.timeline;
  std::vector<TrackId> tracks, gaps;
  for (const ShownTrack& track : timeline.tracks())
    (track.kind == ShownTrackKind::kGaps ? gaps : tracks).push_back(track.id);
  std::mt19937_64 random(2);
  unsigned top = 0;
  while ((timeline.trace().duration >> (top + TilePlace::kBucketBits)) > 0) ++top;
  const auto measure = [&](const char* what, const std::vector<TrackId>& asked) {
    Times times;
    std::size_t most_bytes = 0;
    for (int i = 0; i < 2000; ++i) {
      const unsigned level = static_cast<unsigned>(random() % (top + 1));
      const std::int64_t tiles = (timeline.trace().duration >> (level + TilePlace::kBucketBits)) + 1;
      const auto tile = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(tiles));
      times.measure([&] {
        const auto answer = answers::view_tiles(view, {.level = level, .tile = tile, .tracks = asked});
        most_bytes = std::max(most_bytes, answer->bytes().size());
      });
    }
    print_times(what, std::move(times));
    std::printf("%-44s %zu kB\n", "  the largest of these answers", most_bytes / 1000);
  };
  measure("2,000 tiles of all events", tracks);
  bench::Stopwatch watch;
  timeline.idle_times();
  std::printf(
      "%-44s %.2f s, %.2f bytes an event\n", "idle times by cause, made once", watch.lap(),
      static_cast<double>(timeline.idle_times().memory_bytes()) / static_cast<double>(view.trace->events.size()));
  measure("2,000 tiles of idle times", gaps);
}

void measure_search(const answers::View& view) {
  for (const char* text : {"operator_17", "a", "cudaLaunchKernel"}) {
    bench::Stopwatch watch;
    const auto first = answers::view_search(view, {.text = text});
    std::printf("%-44s %.1f ms for the first of %zu\n", (std::string("search for ") + text).c_str(), 1e3 * watch.lap(),
                first->count);
    Times times;
    std::int64_t from = first->event->id;
    for (int i = 0; i < 200; ++i) {
      times.measure([&] {
        from = answers::view_search(view, {.text = text, .from = from, .is_backwards = i % 7 == 0})->event->id;
      });
    }
    print_times("  next and previous", std::move(times));
  }
}

void measure_ranges(const answers::View& view) {
  for (const std::int64_t part : {1'000'000, 10'000, 100, 1}) {
    bench::Stopwatch watch;
    const auto answer = answers::view_range(view, {.start = 0, .end = view.trace->duration / part});
    std::printf("%-44s %.1f ms\n", ("a range of " + std::to_string(answer->events) + " events").c_str(),
                1e3 * watch.lap());
  }
}

// Each part of the index by itself, on one thread.
void measure_parts(const Trace& trace) {
  const auto measure = [](const char* what, auto make) {
    const double before = processor_seconds();
    make();
    std::printf("  %-42s %.2f s on one processor\n", what, processor_seconds() - before);
  };
  measure("lanes and their sums", [&] { LaneIndex(trace, 1); });
  measure("classes of device work", [&] { WorkClasses{trace}; });
  measure("names", [&] { name_uses(trace, 1); });
  measure("curves", [&] { counter_curves(trace); });
}

int run(std::size_t events) {
  auto trace = std::make_shared<const Trace>(made_up(events));
  const auto count = static_cast<double>(trace->events.size());
  std::printf("%zu events, Trace: %.1f bytes an event\n", trace->events.size(),
              static_cast<double>(trace->memory_bytes()) / count);
  bench::Stopwatch watch;
  const auto view = answers::open_view({.path = "made up", .trace = trace});
  if (!view) return 1;
  const auto bytes = static_cast<double>((*view)->timeline->memory_bytes());
  std::printf("index: made in %.2f s, %.1f bytes an event, %.2f of the Trace\n", watch.lap(), bytes / count,
              bytes / static_cast<double>(trace->memory_bytes()));
  measure_parts(*trace);
  measure_tiles(**view);
  measure_search(**view);
  measure_ranges(**view);
  return 0;
}

}  // namespace
}  // namespace telltale

int main(int argc, char** argv) { return telltale::run(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 50'000'000); }
