// What opening a trace for the page takes, stage by stage: opening_bench FILE [timeline].
//
// With "timeline", nothing is diagnosed. The stages are those of `telltale view`, one after the other instead of side
// by side, so that the processor's time and the memory of each can be told apart. Prints
// {"stages":[…],"trace_bytes":…}; `heap_bytes` is what is in use behind a stage, `resident_bytes` what the process
// occupies.
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>

#include "answers/source.h"
#include "answers/view.h"
#include "answers/view_kept.h"
#include "answers/view_names.h"
#include "answers/view_overview.h"
#include "answers/view_trace.h"
#include "stopwatch.h"
#include "timeline/timeline.h"

namespace telltale {
namespace {

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::size_t heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

long resident_bytes() {
  long all = 0, resident = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &all, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return resident * sysconf(_SC_PAGESIZE);
}

class Stages {
 public:
  void run(std::string_view name, const std::function<void()>& work) {
    const double processor = processor_seconds();
    bench::Stopwatch watch;
    work();
    std::cout << (count_++ ? ",\n " : "\"stages\":[\n ") << "{\"stage\":\"" << name << "\",\"wall_s\":" << watch.lap()
              << ",\"processor_s\":" << processor_seconds() - processor << ",\"heap_bytes\":" << heap_bytes()
              << ",\"resident_bytes\":" << resident_bytes() << '}';
  }

 private:
  int count_ = 0;
};

int run(const std::string& path, bool is_timeline_only) {
  Stages stages;
  answers::Source source;
  source.path = path;
  std::shared_ptr<const Trace> trace;
  std::cout << '{';
  stages.run("reading", [&] {
    auto loaded = answers::load(source);
    if (loaded) trace = loaded->trace;
  });
  if (!trace) {
    std::cerr << "opening_bench: " << path << " cannot be read\n";
    return 2;
  }
  stages.run("giving memory back", [] { malloc_trim(0); });
  auto view = std::make_shared<answers::View>();
  view->path = path;
  view->trace = trace;
  view->kept = std::make_shared<answers::ViewKept>();
  std::shared_ptr<const Timeline> timeline;
  stages.run("indexing", [&] { view->timeline = timeline = std::make_shared<const Timeline>(trace); });
  stages.run("names", [&] { view->names = std::make_shared<const answers::ViewNames>(*trace, timeline->name_uses()); });
  stages.run("steps", [&] { static_cast<void>(timeline->steps()); });
  stages.run("idle times", [&] { static_cast<void>(timeline->idle_times()); });
  stages.run("giving memory back", [] { malloc_trim(0); });
  if (!is_timeline_only) {
    stages.run("diagnosis", [&] { static_cast<void>(answers::overview(*view, {})); });
    stages.run("giving memory back", [] { malloc_trim(0); });
  }
  std::cout << "\n],\n\"events\":" << trace->events.size() << ",\"trace_bytes\":" << trace->memory_bytes()
            << ",\"index_bytes\":" << timeline->memory_bytes() << "}\n";
  return 0;
}

}  // namespace
}  // namespace telltale

int main(int argc, char** argv) {
  const bool is_timeline_only = argc == 3 && std::string_view(argv[2]) == "timeline";
  if (argc != 2 && !is_timeline_only) {
    std::cerr << "usage: opening_bench FILE [timeline]\n";
    return 2;
  }
  return telltale::run(argv[1], is_timeline_only);
}
