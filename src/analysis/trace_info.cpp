#include "analysis/trace_info.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>

#include "analysis/device_maker.h"
#include "analysis/recorder_tracks.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// The top-level values of a Kineto file that are versions, and how each is written.
struct VersionKey {
  std::string_view key, name;
  enum class Style : std::uint8_t {
    kCuda,   // 13000 is 13.0, 12040 is 12.4
    kHip,    // 60443483 is 6.4.43483
    kPlain,  // as it is
  } style;
};
constexpr std::array kVersionKeys = {
    VersionKey{"cuda_runtime_version", "cuda_runtime", VersionKey::Style::kCuda},
    VersionKey{"cuda_driver_version", "cuda_driver", VersionKey::Style::kCuda},
    VersionKey{"cupti_version", "cupti", VersionKey::Style::kPlain},
    VersionKey{"hip_runtime_version", "hip_runtime", VersionKey::Style::kHip},
    VersionKey{"hip_driver_version", "hip_driver", VersionKey::Style::kHip},
    VersionKey{"roctracer_version", "roctracer", VersionKey::Style::kPlain},
    VersionKey{"rocprofiler_version", "rocprofiler", VersionKey::Style::kPlain},
    VersionKey{"rocprofiler-sdk_version", "rocprofiler_sdk", VersionKey::Style::kPlain},
    VersionKey{"pytorch_version", "pytorch", VersionKey::Style::kPlain},
};

std::string_view without_quotes(std::string_view json) {
  const bool is_quoted = json.size() >= 2 && json.front() == '"' && json.back() == '"';
  return is_quoted ? json.substr(1, json.size() - 2) : json;
}

std::string version_text(std::string_view json, VersionKey::Style style) {
  const std::string_view text = without_quotes(json);
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc{} && end == text.data() + text.size();
  if (style == VersionKey::Style::kPlain || !is_number) return std::string(text);
  const auto joined = [](int major, int minor) { return std::to_string(major) + '.' + std::to_string(minor); };
  if (style == VersionKey::Style::kHip)
    return joined(number / 10'000'000, number / 100'000 % 100) + '.' + std::to_string(number % 100'000);
  return joined(number / 1000, number % 1000 / 10);
}

std::vector<std::pair<std::string, std::string>> versions(const Trace& trace) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const VersionKey& version : kVersionKeys) {
    for (const auto& [key, json] : trace.metadata) {
      if (key == version.key) found.emplace_back(version.name, version_text(json, version.style));
    }
  }
  if (trace.distributed && !trace.distributed->nccl_version.empty()) {
    found.emplace_back("nccl", trace.distributed->nccl_version);
  }
  for (const auto& [key, json] : trace.metadata) {
    if (trace.format == "tell" && key == "version") found.emplace_back("telltale", without_quotes(json));
  }
  return found;
}

// Kineto is torch.profiler's backend, and the only writer of these top-level keys.
std::string tool(const Trace& trace) {
  if (trace.format == "tell") return "Telltale's recorder";
  for (const auto& [key, json] : trace.metadata) {
    if (key == "trace_id" || key == "baseTimeNanoseconds" || key == "schemaVersion") return "torch.profiler";
  }
  const auto is_ascend = [&](const Process& one) { return trace.strings[one.name] == "Ascend Hardware"; };
  return std::ranges::any_of(trace.processes, is_ascend) ? "Ascend's profiler" : "";
}

std::optional<std::string> utc_time(std::int64_t epoch_ns) {
  constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
  constexpr std::int64_t kYear2000 = 946'684'800;
  const std::time_t seconds = static_cast<std::time_t>(epoch_ns / kNanosecondsPerSecond);
  if (seconds < kYear2000) return std::nullopt;  // no wall clock: time since boot, or nothing at all
  std::tm parts{};
  std::array<char, 32> text{};
  if (gmtime_r(&seconds, &parts) == nullptr) return std::nullopt;
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(text.data(), size);
}

std::vector<std::pair<Kind, std::uint64_t>> kind_counts(const Events& events) {
  std::array<std::uint64_t, kKindCount> counts{};
  for (const Kind kind : events.kind) ++counts[static_cast<std::size_t>(kind)];
  std::vector<std::pair<Kind, std::uint64_t>> present;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) present.emplace_back(static_cast<Kind>(i), counts[i]);
  }
  return present;
}

// What a recorder took for itself stands on a track like a thread's, and is none.
TrackKind told_kind(const Trace& trace, const Track& track) {
  const bool is_no_thread = track.event_count > 0 && is_of_recorder(trace, track);
  return track.kind == TrackKind::kThread && is_no_thread ? TrackKind::kRecording : track.kind;
}

}  // namespace

TraceInfo trace_info(const Trace& trace) {
  const auto text = [&](StringId id) { return std::string(trace.strings[id]); };
  TraceInfo info;
  info.format = trace.format;
  info.tool = tool(trace);
  info.versions = versions(trace);
  info.recorded_at = utc_time(trace.origin_epoch_ns);
  info.text_bytes = trace.text_bytes;
  info.memory_bytes = trace.memory_bytes();
  info.events = trace.events.size();
  info.memory_events = trace.memory.size();
  info.counter_values = trace.counters.size();
  info.flows = trace.flows.size();
  info.duration_ns = trace.duration;
  for (const Step& step : trace.steps) {
    info.steps.push_back({step.index, std::string(trace.name(step.event)), step.start, step.duration});
  }
  info.devices = trace.devices;
  info.device_word = device_word(trace);
  for (const Process& process : trace.processes) {
    info.processes.push_back({text(process.name), text(process.labels), process.native_id});
  }
  for (TrackId id = 0; id < trace.tracks.size(); ++id) {
    const Track& track = trace.tracks[id];
    info.tracks.push_back({id, text(track.name), told_kind(trace, track), track.process,
                           track.device == kHost ? std::nullopt : std::optional(track.device), track.native_id,
                           track.event_count});
  }
  info.kinds = kind_counts(trace.events);
  info.recorded = trace.recorded;
  info.device_clock = device_clock(trace);
  info.distributed = trace.distributed;
  info.anomalies = trace.anomalies.list();
  std::ranges::stable_sort(info.anomalies, {}, [](const AnomalyCount& each) { return severity_of(each.anomaly); });
  return info;
}

std::string anomaly_sentence(std::uint64_t lost, std::uint64_t repaired) {
  if (lost + repaired == 0) return {};
  const std::uint64_t first = lost > 0 ? lost : repaired;
  std::string text = counted(static_cast<double>(first), "thing") + " in the file " + (first == 1 ? "was " : "were ") +
                     (lost > 0 ? "lost" : "repaired");
  if (lost > 0 && repaired > 0) text += " and " + format_count(static_cast<std::int64_t>(repaired)) + " repaired";
  return text + (lost + repaired == 1 ? ": telltale info shows it." : ": telltale info lists them.");
}

}  // namespace telltale
