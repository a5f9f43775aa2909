#include "answers/memory_what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

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

constexpr std::string_view kNoLog =
    "it has no log of PyTorch's allocator for CUDA, which the simulation needs: record with telltale record --memory "
    "on "
    "a GPU, or take a snapshot after torch.cuda.memory._record_memory_history()";

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

}  // namespace

std::string MemoryWhatIfAnswer::json() const { return to_json(what_if); }

std::string MemoryWhatIfAnswer::terminal(const TextStyle& style) const { return memory_what_if_text(what_if, style); }

Result<MemoryWhatIfAnswer> memory_what_if(const MemoryWhatIfRequest& request) {
  MemoryWhatIfChanges changes{.capacity = request.fits, .wants_largest_batch = request.fits.has_value()};
  if (request.batch) {
    const Result<double> factor = parsed_factor(*request.batch, request.spelling);
    if (!factor) return std::unexpected(factor.error());
    changes.batch_factor = *factor;
  }
  if (request.settings) {  // refused before a large file is read
    const auto settings = parse_allocator_settings(*request.settings);
    if (!settings) return std::unexpected(settings.error());
  }
  const auto source = load(request.source);
  if (!source) return std::unexpected(source.error());
  const Trace& trace = *source->trace;
  if (request.settings)
    changes.settings = parse_allocator_settings(*request.settings, recorded_allocator_settings(trace)).value();
  const std::vector<DeviceId> devices = allocator_devices(trace);
  if (devices.empty() || trace.allocator_events.empty()) return failure(std::string(kNoLog), source->path);
  const DeviceId device = request.device.value_or(fullest_device(trace, devices));
  if (std::ranges::find(devices, device) == devices.end())
    return failure(fmt::format("no GPU {} is in the log of PyTorch's allocator", device), source->path);

  std::shared_ptr<const Trace> other;
  if (request.other) {
    Source second = request.source;
    second.path = *request.other;
    second.trace = nullptr;
    const auto loaded = load(second);
    if (!loaded) return std::unexpected(loaded.error());
    if (loaded->trace->allocator_events.empty()) return failure(std::string(kNoLog), loaded->path);
    other = loaded->trace;
  }
  source->tell("Simulating");
  MemoryWhatIfAnswer answer{telltale::memory_what_if(trace, device, changes, other.get())};
  answer.what_if.path = source->path;
  return answer;
}

}  // namespace telltale::answers
