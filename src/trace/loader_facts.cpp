#include "trace/loader_facts.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace telltale {
namespace {

using nlohmann::json;

// Whatever a file says, sums of times stay numbers, and counts those of processes.
constexpr std::int64_t kLongest = 365LL * 24 * 3600 * 1'000'000'000;
constexpr std::int64_t kMostProcesses = 1'000'000;

// The value itself, or what its text holds: recorders write values of their own as text.
json value_named(const Trace& trace, std::string_view name) {
  const std::string* const text = trace.metadata_named(name);
  if (text == nullptr) return {};
  json value = json::parse(*text, nullptr, false);
  return value.is_string() ? json::parse(value.get_ref<const std::string&>(), nullptr, false) : value;
}

std::optional<std::int64_t> count_in(const json& object, const char* name, std::int64_t most) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  const auto count = found->get<std::int64_t>();
  return count >= 0 && count <= most ? std::optional(count) : std::nullopt;
}

bool is_true(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

std::string text_in(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<LoaderSetup> setup_in(const json& value) {
  if (!value.is_object()) return std::nullopt;
  const auto workers = count_in(value, "workers", kMostProcesses);
  if (!workers) return std::nullopt;
  LoaderSetup setup;
  setup.workers = static_cast<int>(*workers);
  setup.persistent_workers = is_true(value, "persistent_workers");
  setup.pin_memory = is_true(value, "pin_memory");
  setup.start_method = text_in(value, "start_method");
  setup.file = text_in(value, "file");
  setup.line = static_cast<int>(count_in(value, "line", kMostProcesses).value_or(0));
  setup.function = text_in(value, "function");
  setup.iterators = static_cast<int>(count_in(value, "iterators", kMostProcesses).value_or(1));
  return setup;
}

// [file, line, function, what it waits for, share]
std::optional<LoaderLine> line_in(const json& value) {
  if (!value.is_array() || value.size() != 5) return std::nullopt;
  if (!value[0].is_string() || !value[1].is_number_integer() || !value[2].is_string() || !value[3].is_string() ||
      !value[4].is_number())
    return std::nullopt;
  return LoaderLine{value[0].get<std::string>(), value[1].get<int>(), value[2].get<std::string>(),
                    value[3].get<std::string>(), std::clamp(value[4].get<double>(), 0.0, 1.0)};
}

std::optional<LoaderWork> work_named(const Trace& trace, std::string_view name) {
  const json value = value_named(trace, name);
  if (!value.is_object()) return std::nullopt;
  const auto batches = count_in(value, "batches", kLongest);
  const auto took = count_in(value, "took_ns", kLongest);
  const auto processor_time = count_in(value, "processor_ns", kLongest);
  if (!batches || !took || !processor_time || *batches == 0) return std::nullopt;
  LoaderWork work;
  work.workers = static_cast<int>(count_in(value, "workers", kMostProcesses).value_or(0));
  work.batches = *batches;
  work.took = *took;
  work.processor_time = std::min(*processor_time, *took);
  if (const auto lines = value.find("lines"); lines != value.end() && lines->is_array())
    for (const json& each : *lines)
      if (auto line = line_in(each)) work.lines.push_back(*std::move(line));
  std::ranges::stable_sort(work.lines, std::ranges::greater{}, &LoaderLine::share);
  return work;
}

}  // namespace

std::vector<LoaderSetup> loader_setups(const Trace& trace) {
  std::vector<LoaderSetup> setups;
  const json told = value_named(trace, "loader_workers");
  if (!told.is_array()) return setups;
  for (const json& each : told)
    if (auto setup = setup_in(each)) setups.push_back(*std::move(setup));
  return setups;
}

std::optional<std::vector<std::int64_t>> loader_worker_ids(const Trace& trace) {
  const json told = value_named(trace, "loader_worker_ids");
  if (!told.is_array()) return std::nullopt;
  std::vector<std::int64_t> ids;
  for (const json& each : told)
    if (each.is_number_integer()) ids.push_back(each.get<std::int64_t>());
  return ids;
}

bool is_of_loader_worker(const Trace& trace) { return trace.metadata_named("loader_worker") != nullptr; }

std::optional<LoaderWork> own_loader_work(const Trace& trace) { return work_named(trace, "loader_work"); }
std::optional<LoaderWork> workers_loader_work(const Trace& trace) { return work_named(trace, "worker_lines"); }

}  // namespace telltale
