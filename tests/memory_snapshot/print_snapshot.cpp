// Prints what a memory snapshot was read as, in JSON: tests compare it with what its maker knows.
#include <cstdio>
#include <string>

#include "base/text_encoding.h"
#include "formats/read_trace.h"

namespace {

using namespace telltale;

std::string number(auto value) { return std::to_string(value); }

void print_list(const char* name, std::size_t count, auto row, const char* end = ",\n") {
  std::printf("\"%s\": [", name);
  for (std::size_t i = 0; i < count; ++i) std::printf("%s[%s]", i == 0 ? "" : ",\n ", std::string(row(i)).c_str());
  std::printf("]%s", end);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const auto trace = read_trace(arguments[1]);
  if (!trace) return std::fprintf(stderr, "%s\n", to_string(trace.error()).c_str()), 1;
  const auto text = [&](StringId id) { return json_string(trace->strings[id]); };
  std::printf("{");
  print_list("segments", trace->memory_segments.size(), [&](std::size_t i) {
    const MemorySegment& row = trace->memory_segments[i];
    return number(row.device) + "," + number(row.address) + "," + number(row.bytes) + "," + number(row.stream) + "," +
           number(+row.is_large) + "," + number(+row.is_expandable) + "," + text(row.pool);
  });
  print_list("blocks", trace->memory_blocks.size(), [&](std::size_t i) {
    const MemoryBlock& row = trace->memory_blocks[i];
    return number(row.segment) + "," + number(row.address) + "," + number(row.bytes) + "," + number(row.requested) +
           ",\"" + std::string(name_of(row.state)) + "\"," + text(row.call_stack);
  });
  print_list("entries", trace->allocator_events.size(), [&](std::size_t i) {
    const AllocatorEvent& row = trace->allocator_events[i];
    return number(row.device) + ",\"" + std::string(name_of(row.action)) + "\"," + number(row.address) + "," +
           number(row.bytes) + "," + number(row.stream) + "," + number(row.time) + "," + text(row.pool) + "," +
           text(row.call_stack) + "," + (row.event == kNoEvent ? "null" : json_string(trace->name(row.event)));
  });
  const MemoryEvents& memory = trace->memory;
  print_list("memory", memory.size(), [&](std::size_t i) {
    return number(memory.device[i]) + "," + number(memory.address[i]) + "," + number(memory.bytes[i]) + "," +
           number(memory.total_allocated[i]) + "," + number(memory.total_reserved[i]);
  });
  print_list("steps", trace->steps.size(),
             [&](std::size_t i) { return number(trace->steps[i].index) + "," + number(trace->steps[i].duration); });
  const auto anomalies = trace->anomalies.list();
  print_list("anomalies", anomalies.size(), [&](std::size_t i) {
    return json_string(name_of(anomalies[i].anomaly)) + "," + number(anomalies[i].count);
  });
  const std::string* settings = trace->metadata_named("allocator_settings");
  std::printf("\"settings\": %s, \"duration\": %lld, \"format\": %s}\n",
              settings == nullptr ? "null" : settings->c_str(), static_cast<long long>(trace->duration),
              json_string(trace->format).c_str());
}
