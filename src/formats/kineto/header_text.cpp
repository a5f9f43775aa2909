#include "formats/kineto/header_text.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/json_text.h"
#include "formats/output/json_parts.h"

namespace telltale::kineto {
namespace {

constexpr std::string_view kEndOfValue = ",\n";

template <typename Number>
void add(ObjectText& object, std::string_view name, const std::optional<Number>& number) {
  if (number) object.member(name) << *number;
}

void add(ObjectText& object, std::string_view name, const std::string& text) {
  if (!text.empty()) object.member(name) << InJson{text};
}

void write_devices(const Trace& trace, TextWriter& out) {
  if (trace.devices.empty()) return;
  std::string_view opening = "\"deviceProperties\": [\n  ";
  for (const Device& device : trace.devices) {
    ObjectText object(out, opening);
    object.member("id") << device.id;
    add(object, "name", device.name);
    add(object, "totalGlobalMem", device.memory_bytes);
    add(object, "computeMajor", device.compute_major);
    add(object, "computeMinor", device.compute_minor);
    add(object, "maxThreadsPerMultiprocessor", device.max_threads_per_multiprocessor);
    add(object, "warpSize", device.warp_size);
    add(object, "numSms", device.multiprocessors);
    add(object, "regsPerMultiprocessor", device.registers_per_multiprocessor);
    add(object, "sharedMemPerMultiprocessor", device.shared_memory_per_multiprocessor);
    opening = ",\n  ";
  }
  out << "\n]" << kEndOfValue;
}

void write_groups(const std::vector<ProcessGroup>& groups, TextWriter& out) {
  std::string_view opening = "[";
  for (const ProcessGroup& group : groups) {
    ObjectText object(out, opening);
    object.member("pg_name") << InJson{group.name};
    add(object, "pg_desc", group.description);
    add(object, "backend_config", group.backend);
    object.member("pg_size") << group.size;
    object.member("ranks") << '[';
    for (std::size_t i = 0; i < group.ranks.size(); ++i) out << (i == 0 ? "" : ",") << group.ranks[i];
    out << ']';
    opening = ",";
  }
  out << ']';
}

void write_distributed(const Distributed& info, TextWriter& out) {
  out << R"("distributedInfo": {"pg_count":)" << info.groups.size();
  const auto add_next = [&](std::string_view name, const auto& value) { out << ",\"" << name << "\":" << value; };
  if (!info.backend.empty()) add_next("backend", json_string(info.backend));
  if (!info.nccl_version.empty()) add_next("nccl_version", json_string(info.nccl_version));
  if (info.rank) add_next("rank", *info.rank);
  if (info.world_size) add_next("world_size", *info.world_size);
  if (!info.groups.empty()) {
    out << ",\"pg_config\":";
    write_groups(info.groups, out);
  }
  out << '}' << kEndOfValue;
}

// What neither a value of the file nor the events themselves tell.
void write_flags(const Trace& trace, TextWriter& out) {
  const bool has_python = std::ranges::find(trace.events.kind, Kind::kPython) != trace.events.kind.end();
  const bool has_modules = std::ranges::find(trace.events.kind, Kind::kModule) != trace.events.kind.end();
  const std::tuple<std::string_view, bool, bool> kFlags[] = {
      {"record_shapes", trace.recorded.shapes, !trace.operator_inputs.empty()},
      {"with_stack", trace.recorded.stacks, has_python || !trace.operator_stacks.empty()},
      {"profile_memory", trace.recorded.memory, trace.memory.size() > 0},
      {"with_modules", trace.recorded.modules, has_modules},
      {"with_flops", trace.recorded.flops, false},
      {"sampled_stacks", trace.recorded.sampled, false},
  };
  for (const auto& [name, is_set, is_evident] : kFlags) {
    if (is_set && !is_evident && trace.metadata_named(name) == nullptr) out << '"' << name << "\": 1" << kEndOfValue;
  }
}

void write_metadata(const Trace& trace, TextWriter& out, LeftOutList& left_out) {
  std::uint64_t unwritable = 0;
  for (const auto& [name, text] : trace.metadata) {
    const auto value = compact_json(text);
    // A list under this name would be taken for the events.
    const bool is_list_of_events = name == "traceEvents" && value && value->starts_with('[');
    if (value && !is_list_of_events)
      out << InJson{name} << ": " << *value << kEndOfValue;
    else
      ++unwritable;
  }
  left_out.add(unwritable, "value about the recording", "values about the recording", "not JSON");
}

}  // namespace

std::int64_t base_time(const Trace& trace) {
  constexpr std::int64_t kNanosecondsEach = 1000;
  const std::int64_t remainder = trace.origin_epoch_ns % kNanosecondsEach;
  return trace.origin_epoch_ns - (remainder < 0 ? remainder + kNanosecondsEach : remainder);
}

void write_header(const Trace& trace, TextWriter& out, LeftOutList& left_out) {
  write_metadata(trace, out, left_out);
  write_flags(trace, out);
  write_devices(trace, out);
  if (trace.distributed) write_distributed(*trace.distributed, out);
  if (trace.origin_epoch_ns != 0) out << "\"baseTimeNanoseconds\": " << base_time(trace) << kEndOfValue;
}

}  // namespace telltale::kineto
