#include "trace/recording_facts.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/decimal.h"

namespace telltale {
namespace {

using nlohmann::json;

std::string text_or_empty(const json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end()) return {};
  if (at->is_string()) return at->get<std::string>();
  return at->is_primitive() ? at->dump() : std::string();  // dump() of deep nesting would need deep recursion
}

// Numbers that the file may also write as text.
std::optional<std::int64_t> integer(const json& value) {
  if (value.is_number_unsigned() && !std::in_range<std::int64_t>(value.get<std::uint64_t>())) return std::nullopt;
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_string()) return std::nullopt;
  const Decimal number = whole_decimal(value.get_ref<const std::string&>());
  return number.status == DecimalStatus::kOk ? std::optional(number.value) : std::nullopt;
}

std::optional<std::int64_t> integer(const json& object, const char* key) {
  const auto at = object.find(key);
  return at == object.end() ? std::nullopt : integer(*at);
}

std::optional<int> small_integer(const json& object, const char* key) {
  const auto value = integer(object, key);
  return value && std::in_range<int>(*value) ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

std::optional<std::vector<Device>> devices(const json& list) {
  if (!list.is_array()) return std::nullopt;
  std::vector<Device> found;
  for (const json& entry : list) {
    if (!entry.is_object()) return std::nullopt;
    Device device;
    device.id = small_integer(entry, "id").value_or(static_cast<DeviceId>(found.size()));
    device.name = text_or_empty(entry, "name");
    device.memory_bytes = integer(entry, "totalGlobalMem");
    device.compute_major = small_integer(entry, "computeMajor");
    device.compute_minor = small_integer(entry, "computeMinor");
    device.multiprocessors = small_integer(entry, "numSms");
    device.warp_size = small_integer(entry, "warpSize");
    device.max_threads_per_multiprocessor = small_integer(entry, "maxThreadsPerMultiprocessor");
    device.registers_per_multiprocessor = integer(entry, "regsPerMultiprocessor");
    device.shared_memory_per_multiprocessor = integer(entry, "sharedMemPerMultiprocessor");
    found.push_back(std::move(device));
  }
  return found;
}

std::vector<std::int64_t> integers(const json& list) {
  std::vector<std::int64_t> numbers;
  if (list.is_string()) return integers(json::parse(list.get<std::string>(), nullptr, false));
  if (!list.is_array()) return numbers;
  for (const json& entry : list)
    if (const auto number = integer(entry)) numbers.push_back(*number);
  return numbers;
}

std::optional<Distributed> distributed(const json& object) {
  if (!object.is_object()) return std::nullopt;
  Distributed info;
  info.backend = text_or_empty(object, "backend");
  info.nccl_version = text_or_empty(object, "nccl_version");
  info.rank = integer(object, "rank");
  info.world_size = integer(object, "world_size");
  const auto groups = object.find("pg_config");
  if (groups != object.end() && groups->is_array()) {
    for (const json& entry : *groups) {
      if (!entry.is_object()) continue;
      ProcessGroup group;
      group.name = text_or_empty(entry, "pg_name");
      group.description = text_or_empty(entry, "pg_desc");
      group.backend = text_or_empty(entry, "backend_config");
      group.size = integer(entry, "pg_size").value_or(0);
      if (const auto ranks = entry.find("ranks"); ranks != entry.end()) group.ranks = integers(*ranks);
      info.groups.push_back(std::move(group));
    }
  }
  return info;
}

bool is_set(const json& value) { return value == 1 || value == true || value == "1" || value == "true"; }

}  // namespace

std::optional<std::int64_t> integer_in(std::string_view json_text) {
  return integer(json::parse(json_text, nullptr, false));
}

std::optional<double> session_number(const Trace& trace, std::string_view name) {
  const std::string* const text = trace.metadata_named(name);
  const std::optional<std::int64_t> value = text == nullptr ? std::nullopt : integer_in(*text);
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

void take_recording_facts(NamedValues values, Trace& trace) {
  constexpr std::pair<std::string_view, bool Recorded::*> kFlags[] = {
      {"record_shapes", &Recorded::shapes}, {"with_stack", &Recorded::stacks}, {"profile_memory", &Recorded::memory},
      {"with_modules", &Recorded::modules}, {"with_flops", &Recorded::flops},  {"sampled_stacks", &Recorded::sampled},
  };
  for (auto& [name, text] : values) {
    const json value = json::parse(text, nullptr, false);
    if (name == "deviceProperties") {
      if (auto found = devices(value)) {
        trace.devices = std::move(*found);
        continue;
      }
    } else if (name == "distributedInfo") {
      if (auto info = distributed(value)) {
        trace.distributed = std::move(*info);
        continue;
      }
    } else {
      for (const auto& [flag, member] : kFlags)
        if (name == flag) trace.recorded.*member = is_set(value);
    }
    trace.metadata.emplace_back(std::move(name), std::move(text));
  }
}

}  // namespace telltale
