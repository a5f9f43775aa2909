// Odd traces, written in every format: JSON must be read back as it was, and the others must not stumble.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "compare_traces.h"
#include "formats/kineto/write.h"
#include "formats/write_trace.h"
#include "read_text.h"
#include "require.h"
#include "trace_from_bytes.h"

namespace telltale::fuzzing {
namespace {

class TextSink : public ByteSink {
 public:
  Result<void> write(std::string_view bytes) override {
    text += bytes;
    return {};
  }
  Result<void> finish() override { return {}; }

  std::string text;
};

using Writer = decltype(OutputFormat::write);

std::string written(const Trace& trace, Writer writer) {
  TextSink sink;
  TextWriter out(sink);
  writer(trace, out, {});
  require(out.finish().has_value(), "memory takes everything");
  return std::move(sink.text);
}

// A begin and an end can be further apart than any duration that a reader believes.
bool has_unbelievable_duration(const Trace& trace) {
  constexpr Nanoseconds kLongestDuration = 1'000'000'000'000'000'000;
  return std::ranges::any_of(trace.events.duration, [](Nanoseconds duration) { return duration > kLongestDuration; });
}

void check_round_trip(Trace& before) {
  const std::string text = written(before, kineto::write);
  auto after = trace_in(text);
  require(after.has_value(), "what we write is a trace");
  require(written(*after, kineto::write) == text, "written again, it is the same text");
  before.anomalies = after->anomalies = {};
  before.text_bytes = after->text_bytes;
  before.format = after->format;  // what is written is Kineto's, whatever it was read from
  const std::string found = oracle::difference(before, *after, "before", "after");
  require(found.empty(), "what is written is read back as it was\n" + found);
}

}  // namespace
}  // namespace telltale::fuzzing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace telltale;
  auto trace = fuzzing::trace_in(fuzzing::trace_from_bytes({bytes, size}));
  if (!trace) return 0;
  for (const OutputFormat& format : output_formats()) fuzzing::written(*trace, format.write);
  if (!fuzzing::has_unbelievable_duration(*trace)) fuzzing::check_round_trip(*trace);
  return 0;
}
