#include "answers/memory_what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "advise/memory_report.h"
#include "analysis/host_work.h"
#include "analysis/memory_map.h"
#include "analysis/phases.h"
#include "answers/held_memory.h"
#include "base/amounts.h"
#include "base/size_text.h"
#include "report/json.h"
#include "report/memory_what_if_terminal.h"

namespace telltale::answers {
namespace {

constexpr double kLeastFactor = 1.0 / 1024, kMostFactor = 1024;

Result<double> parsed_factor(std::string_view text, Spelling spelling) {
  std::string_view digits = text;
  if (digits.ends_with('x') || digits.ends_with('X')) digits.remove_suffix(1);
  double factor = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), factor);
  if (problem != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(factor) ||
      factor < kLeastFactor || factor > kMostFactor)
    return failure(fmt::format("{} makes no sense: say how many times the recorded batch, as in {}",
                               spelled(spelling, "batch", text), spelled(spelling, "batch", "2x")));
  return factor;
}

std::string no_log_words(Spelling spelling) {
  return fmt::format(
      "it has no log of PyTorch's allocator for CUDA, which {}, {} and {} simulate: record with telltale record "
      "--memory on a GPU, or take a snapshot after torch.cuda.memory._record_memory_history(); {} alone needs none",
      spelled(spelling, "fits"), spelled(spelling, "batch"), spelled(spelling, "settings"),
      spelled(spelling, "without"));
}

// The one with most reserved.
DeviceId fullest_device(const Trace& trace, const std::vector<DeviceId>& devices) {
  DeviceId fullest = devices.front();
  std::int64_t most = -1;
  for (const DeviceId device : devices) {
    AllocatorWalk walk(trace, device);
    std::int64_t peak = walk.totals().reserved;
    while (walk.apply_next()) peak = std::max(peak, walk.totals().reserved);
    if (peak > most) fullest = device;
    most = std::max(most, peak);
  }
  return fullest;
}

Result<void> check_rules(const MemoryWhatIfRequest& request) {
  const std::vector<std::string> known = rules_about_memory();
  for (const std::string& rule : request.without)
    if (std::ranges::find(known, rule) == known.end())
      return failure(fmt::format("{} is no rule about memory: there are {}", spelled(request.spelling, "without", rule),
                                 listed(known)));
  return {};
}

// What to leave out, and the device that it is about.
struct Without {
  DeviceId device = kHost;
  MemoryEdit edit;
  std::vector<WithoutFinding> findings;
};

Result<Without> without_rules(const Trace& trace, const MemoryWhatIfRequest& request, const std::string& path) {
  const MemoryReport report = memory_report(trace, {}, true);
  Without without;
  if (const DeviceCauses* const device = fullest(report.causes)) without.device = device->peak.device;
  std::vector<MemoryEdit> edits;
  for (const std::string& rule : request.without) {
    if (std::ranges::find(without.findings, rule, &WithoutFinding::rule) != without.findings.end()) continue;
    bool is_found = false;
    for (const Finding& finding : report.findings) {
      if (finding.rule != rule) continue;
      is_found = true;
      if (finding.memory_edit == nullptr || finding.memory_edit->is_empty())
        return failure(fmt::format("{} does not say which memory its fix would free: it needs operators and lines, or "
                                   "the allocator's log",
                                   rule),
                       path);
      edits.push_back(*finding.memory_edit);
      without.findings.push_back({rule, finding.title, finding.fix.id});
    }
    if (!is_found)
      return failure(fmt::format("{} found nothing here, so there is nothing to fix: telltale memory lists what was "
                                 "found",
                                 rule),
                     path);
  }
  without.edit = joined(edits);
  return without;
}

// Without the allocator's log.
MemoryWhatIf walked(const Trace& trace, DeviceId device, const MemoryWhatIfChanges& changes) {
  const std::vector<DeviceMemory> all = memory_by_device(trace);
  const auto found = std::ranges::find(all, device, &DeviceMemory::device);
  const std::vector<UsedBlock> blocks = used_blocks(trace, device, phase_by_event(trace, host_work_by_event(trace)));
  return walked_what_if(trace, *found, blocks, changes);
}

}  // namespace

std::string MemoryWhatIfAnswer::json() const { return to_json(what_if); }

std::string MemoryWhatIfAnswer::terminal(const TextStyle& style) const { return memory_what_if_text(what_if, style); }

Result<std::int64_t> parsed_capacity(std::string_view text, Spelling spelling) {
  if (!text.empty() && std::isdigit(static_cast<unsigned char>(text.back())) != 0)
    return failure(fmt::format("{} has no unit: write {}", spelled(spelling, "fits", text),
                               spelled(spelling, "fits", std::string(text) + "GB")));
  const std::optional<std::uint64_t> bytes = parsed_size(text);
  if (!bytes || *bytes == 0 || *bytes > std::uint64_t{1} << 50)
    return failure(
        fmt::format("{} is not a size: write {}", spelled(spelling, "fits", text), spelled(spelling, "fits", "24GB")));
  return static_cast<std::int64_t>(*bytes);
}

Result<MemoryWhatIfAnswer> memory_what_if(const MemoryWhatIfRequest& request) {
  MemoryWhatIfChanges changes{.capacity = request.fits, .wants_largest_batch = request.fits.has_value()};
  if (request.batch) {
    const Result<double> factor = parsed_factor(*request.batch, request.spelling);
    if (!factor) return std::unexpected(factor.error());
    changes.batch_factor = *factor;
  }
  if (request.settings) {  // refused before a large file is read
    if (const auto good = check_question(*request.settings); !good) return std::unexpected(good.error());
  }
  if (const auto known = check_rules(request); !known) return std::unexpected(known.error());
  const auto source = load(request.source);
  if (!source) return std::unexpected(source.error());
  const Trace& trace = *source->trace;
  if (request.settings)
    changes.settings = parse_allocator_settings(*request.settings, recorded_allocator_settings(trace)).value();
  const std::vector<DeviceId> devices = allocator_devices(trace);
  const bool has_log = !devices.empty() && !trace.allocator_events.empty();
  std::optional<Without> without;
  if (!request.without.empty()) {
    if (!has_memory(trace)) return failure(no_memory_words(trace), source->path);
    source->tell("Analyzing");
    Result<Without> found = without_rules(trace, request, source->path);
    if (!found) return std::unexpected(found.error());
    changes.edit = std::move(found->edit);
    without = std::move(*found);
  }
  if (without && request.device && *request.device != without->device)
    return failure(
        fmt::format("what rules found is about {}, of which most is in use, and not about GPU {}",
                    without->device == kHost ? "the host" : fmt::format("GPU {}", without->device), *request.device),
        source->path);
  if (without && !request.batch && !request.settings &&
      (!has_log || std::ranges::find(devices, without->device) == devices.end())) {
    MemoryWhatIfAnswer answer{walked(trace, without->device, changes)};
    answer.what_if.path = source->path;
    answer.what_if.without = std::move(without->findings);
    return answer;
  }
  if (!has_log && trace.anomalies.count(Anomaly::kTruncated) > 0) return failure(no_memory_words(trace), source->path);
  if (!has_log) return failure(no_log_words(request.spelling), source->path);
  const DeviceId device = without ? without->device : request.device.value_or(fullest_device(trace, devices));
  if (std::ranges::find(devices, device) == devices.end())
    return failure(fmt::format("no GPU {} is in the log of PyTorch's allocator", device), source->path);

  std::shared_ptr<const Trace> other;
  if (request.other) {
    Source second = request.source;
    second.path = *request.other;
    second.trace = nullptr;
    const auto loaded = load(second);
    if (!loaded) return std::unexpected(loaded.error());
    if (loaded->trace->allocator_events.empty()) return failure(no_log_words(request.spelling), loaded->path);
    other = loaded->trace;
  }
  source->tell("Simulating");
  MemoryWhatIfAnswer answer{telltale::memory_what_if(trace, device, changes, other.get())};
  answer.what_if.path = source->path;
  if (without) answer.what_if.without = std::move(without->findings);
  return answer;
}

}  // namespace telltale::answers
