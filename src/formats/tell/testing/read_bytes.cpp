#include "formats/tell/testing/read_bytes.h"

#include <algorithm>
#include <cstring>

#include "formats/tell/read.h"

namespace telltale::tell::testing {
namespace {

class MemoryInput : public TextInput {
 public:
  explicit MemoryInput(std::string_view bytes) : bytes_(bytes) {}

  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t size = std::min(into.size(), bytes_.size() - used_);
    std::memcpy(into.data(), bytes_.data() + used_, size);
    used_ += size;
    return size;
  }
  std::uint64_t file_bytes_read() const override { return used_; }
  std::uint64_t file_bytes() const override { return bytes_.size(); }

 private:
  std::string_view bytes_;
  std::size_t used_ = 0;
};

}  // namespace

Result<Trace> read_bytes(std::string_view bytes, unsigned threads) {
  MemoryInput input(bytes);
  ReadOptions options;
  options.threads = threads;
  return read(input, "test.tell", options);
}

std::vector<std::string> rows(const Trace& trace) {
  std::vector<std::string> lines;
  for (EventId event = 0; event < trace.events.size(); ++event)
    lines.push_back(std::string(name_of(trace.events.kind[event])) + ' ' + std::string(trace.name(event)) + ' ' +
                    std::to_string(trace.events.start[event]) + '+' + std::to_string(trace.events.duration[event]) +
                    " on " + std::string(trace.strings[trace.tracks[trace.events.track[event]].name]));
  return lines;
}

std::string example_of(const Trace& trace, Anomaly anomaly) {
  for (const AnomalyCount& each : trace.anomalies.list())
    if (each.anomaly == anomaly) return each.example.text;
  return "(none)";
}

}  // namespace telltale::tell::testing
