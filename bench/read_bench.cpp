// Times our reader: read_bench FILE THREADS RUNS. THREADS 0 means as many as the machine has.
//
// Prints {"read_s":[…],"rows":n,…}, where a row is an event, a memory event or a counter's value.
#include <iostream>
#include <string>
#include <vector>

#include "formats/read_trace.h"
#include "stopwatch.h"

namespace {

int run(const std::string& path, unsigned threads, int runs) {
  telltale::ReadOptions options;
  options.threads = threads;
  std::vector<double> seconds;
  for (int i = 0; i < runs; ++i) {
    telltale::bench::Stopwatch stopwatch;
    const telltale::Result<telltale::Trace> trace = telltale::read_trace(path, options);
    seconds.push_back(stopwatch.lap());
    if (!trace) {
      std::cerr << "read_bench: " << to_string(trace.error()) << '\n';
      return 2;
    }
    if (i + 1 < runs) continue;
    std::cout << '{';
    telltale::bench::print_seconds(std::cout, "read_s", seconds);
    std::cout << ",\"rows\":" << trace->events.size() + trace->memory.size() + trace->counters.size()
              << ",\"events\":" << trace->events.size() << ",\"trace_bytes\":" << trace->memory_bytes()
              << ",\"text_bytes\":" << trace->text_bytes << ",\"anomalies\":" << trace->anomalies.total() << "}\n";
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: read_bench FILE THREADS RUNS\n";
    return 2;
  }
  return run(argv[1], static_cast<unsigned>(std::stoul(argv[2])), std::stoi(argv[3]));
}
