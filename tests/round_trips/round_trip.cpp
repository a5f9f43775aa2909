#include "round_trip.h"

#include <stdexcept>

#include "compare_traces.h"
#include "formats/kineto/write.h"
#include "formats/output/testing/sinks.h"
#include "formats/read_trace.h"
#include "traces_on_disk.h"

namespace telltale {
namespace {

// What one file lacks, the other one lacks, too, and samples in the header are kept there; everything else that is
// wrong with a file, a writer must not repeat.
bool may_remain(Anomaly anomaly) {
  return anomaly == Anomaly::kDeviceWithoutLaunch || anomaly == Anomaly::kBackwardWithoutForward ||
         anomaly == Anomaly::kTooManyLanes || anomaly == Anomaly::kUnreadSample;
}

std::string new_anomalies(const Trace& before, const Trace& after) {
  std::string text;
  for (const AnomalyCount& entry : after.anomalies.list()) {
    if (may_remain(entry.anomaly) && entry.count == before.anomalies.count(entry.anomaly)) continue;
    text +=
        std::to_string(entry.count) + " × " + std::string(name_of(entry.anomaly)) + ": " + entry.example.text + "\n";
  }
  return text;
}

}  // namespace

Trace trace_of_text(const std::string& text) {
  const oracle::TemporaryFile file(text);
  Result<Trace> trace = read_trace(file.path(), oracle::with_threads(1));
  if (!trace) throw std::runtime_error(to_string(trace.error()));
  return std::move(*trace);
}

WrittenJson as_json(const Trace& trace) {
  MemorySink sink;
  TextWriter out(sink);
  LeftOutList left_out = kineto::write(trace, out);
  if (!out.finish()) throw std::runtime_error("could not be written");
  return {std::move(sink.text), std::move(left_out)};
}

std::string difference_of_content(Trace& before, Trace& after) {
  before.anomalies = after.anomalies = {};
  before.text_bytes = after.text_bytes = 0;
  return oracle::difference(before, after, "before", "after");
}

std::string trouble_of_round_trip(const std::string& text) {
  Trace before = trace_of_text(text);
  const WrittenJson written = as_json(before);
  std::string trouble;
  for (const LeftOut& entry : written.left_out.entries())
    if (entry.one != "anomaly of the trace")
      trouble += "left out: " + std::to_string(entry.count) + " " + std::string(entry.many) + "\n";
  Trace after = trace_of_text(written.text);
  trouble += new_anomalies(before, after);
  if (as_json(after).text != written.text) trouble += "written again, it is another text\n";
  return trouble + difference_of_content(before, after);
}

}  // namespace telltale
