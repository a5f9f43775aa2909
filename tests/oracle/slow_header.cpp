#include "slow_header.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "slow_arguments.h"
#include "slow_document.h"

namespace telltale::oracle {
namespace {

using Members = std::vector<JsonMember>;

// Names are text; where a file has a number or another word instead, that is the name.
std::string name_in(const Members& members, std::string_view key) {
  const auto raw = find(members, key);
  return raw && !is_array(*raw) && !is_object(*raw) ? text_of(*raw) : std::string();
}

// Whole numbers, or text that holds a number. What has a point or an exponent is no count and no version.
std::optional<std::int64_t> whole_number(std::string_view raw) {
  if (is_number(raw) && raw.find_first_of(".eE") != std::string_view::npos) return std::nullopt;
  const ExactInteger number = number_in(raw);
  if (number.outcome != ExactInteger::Outcome::kFits) return std::nullopt;
  return number.value;
}

std::optional<std::int64_t> whole_number_in(const Members& members, std::string_view key) {
  const auto raw = find(members, key);
  return raw ? whole_number(*raw) : std::nullopt;
}

std::optional<std::int32_t> small_number_in(const Members& members, std::string_view key) {
  const auto value = whole_number_in(members, key);
  if (!value || !std::in_range<std::int32_t>(*value)) return std::nullopt;
  return static_cast<std::int32_t>(*value);
}

std::vector<std::int64_t> integers_in(std::string_view raw) {
  std::vector<std::int64_t> numbers;
  const std::string list = text_of(raw);
  if (!is_valid_json(list) || !is_array(trimmed(list))) return numbers;
  for (const std::string_view element : elements_of(trimmed(list))) {
    if (const auto number = whole_number(element)) numbers.push_back(*number);
  }
  return numbers;
}

bool is_list_of_objects(std::string_view raw) {
  return is_array(raw) &&
         std::ranges::all_of(elements_of(raw), [](std::string_view element) { return is_object(element); });
}

std::vector<Device> devices_in(std::string_view raw) {
  std::vector<Device> devices;
  for (const std::string_view element : elements_of(raw)) {
    const Members entry = members_of(element);
    Device device;
    device.id = small_number_in(entry, "id").value_or(static_cast<DeviceId>(devices.size()));
    device.name = name_in(entry, "name");
    device.memory_bytes = whole_number_in(entry, "totalGlobalMem");
    device.compute_major = small_number_in(entry, "computeMajor");
    device.compute_minor = small_number_in(entry, "computeMinor");
    device.multiprocessors = small_number_in(entry, "numSms");
    device.warp_size = small_number_in(entry, "warpSize");
    device.max_threads_per_multiprocessor = small_number_in(entry, "maxThreadsPerMultiprocessor");
    device.registers_per_multiprocessor = whole_number_in(entry, "regsPerMultiprocessor");
    device.shared_memory_per_multiprocessor = whole_number_in(entry, "sharedMemPerMultiprocessor");
    devices.push_back(device);
  }
  return devices;
}

Distributed distributed_in(std::string_view raw) {
  const Members members = members_of(raw);
  Distributed info;
  info.backend = name_in(members, "backend");
  info.nccl_version = name_in(members, "nccl_version");
  info.rank = whole_number_in(members, "rank");
  info.world_size = whole_number_in(members, "world_size");
  const auto groups = find(members, "pg_config");
  if (!groups || !is_array(*groups)) return info;
  for (const std::string_view element : elements_of(*groups)) {
    if (!is_object(element)) continue;
    const Members entry = members_of(element);
    ProcessGroup group;
    group.name = name_in(entry, "pg_name");
    group.description = name_in(entry, "pg_desc");
    group.backend = name_in(entry, "backend_config");
    group.size = whole_number_in(entry, "pg_size").value_or(0);
    if (const auto ranks = find(entry, "ranks")) group.ranks = integers_in(*ranks);
    info.groups.push_back(group);
  }
  return info;
}

bool is_set(std::string_view raw) {
  const std::string value = text_of(raw);
  return value == "true" || value == "1" || (is_number(raw) && real_in(raw) == 1.0);
}

}  // namespace

std::optional<std::int64_t> fill_header(const std::vector<JsonMember>& header, Trace& trace) {
  const std::map<std::string, bool*> flags = {
      {"record_shapes", &trace.recorded.shapes},  {"with_stack", &trace.recorded.stacks},
      {"profile_memory", &trace.recorded.memory}, {"with_modules", &trace.recorded.modules},
      {"with_flops", &trace.recorded.flops},      {"sampled_stacks", &trace.recorded.sampled}};
  std::optional<std::int64_t> base_time;
  for (const JsonMember& member : header) {
    if (member.key == "deviceProperties" && is_list_of_objects(member.raw)) {
      trace.devices = devices_in(member.raw);
      continue;
    }
    if (member.key == "distributedInfo" && is_object(member.raw)) {
      trace.distributed = distributed_in(member.raw);
      continue;
    }
    if (member.key == "baseTimeNanoseconds") {
      base_time = whole_number(member.raw);
      if (base_time) continue;
    }
    if (const auto flag = flags.find(member.key); flag != flags.end()) *flag->second = is_set(member.raw);
    trace.metadata.emplace_back(member.key, compact(member.raw));
  }
  return base_time;
}

}  // namespace telltale::oracle
