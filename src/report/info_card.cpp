#include "report/info_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>

#include "analysis/gpu_peaks.h"
#include "base/amounts.h"
#include "report/text_width.h"

namespace telltale {
namespace {

constexpr std::string_view kDot = " · ";
constexpr std::size_t kLabelWidth = 13;
constexpr std::size_t kMostLines = 2;  // of a list, before the rest is only counted
constexpr std::size_t kMostKinds = 9;

std::string count_of(std::uint64_t count) { return format_count(static_cast<std::int64_t>(count)); }
std::string count_of(std::uint64_t count, std::string_view noun) { return counted(static_cast<double>(count), noun); }
std::string size_of(std::uint64_t bytes) { return format_bytes(static_cast<std::int64_t>(bytes)); }

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

std::string labeled(std::string_view label, const std::vector<std::string>& lines, const TextStyle& style) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string head = padded_right(i == 0 ? label : "", kLabelWidth);
    text += (i == 0 ? style.faint(head) : head) + lines[i] + '\n';
  }
  return text;
}

std::size_t room_beside_label(const TextStyle& style) {
  constexpr std::size_t kLeast = 20;
  return std::max(style.width, kLabelWidth + kLeast) - kLabelWidth;
}

// "Threads      main 12,345 · autograd 678 · and 3 more", over as few lines as it takes.
std::string list_line(std::string_view label, const std::vector<std::string>& items, const TextStyle& style) {
  const std::size_t room = room_beside_label(style);
  std::vector<std::string> lines(1);
  std::size_t shown = 0;
  for (; shown < items.size(); ++shown) {
    const std::string item = cut_to_width(printable(items[shown]), room);
    const std::string rest = fmt::format("{}and {} more", kDot, items.size() - shown);
    const bool is_last_line = lines.size() == kMostLines;
    const bool is_last_item = shown + 1 == items.size();
    const std::size_t reserved = is_last_line && !is_last_item ? display_width(rest) : 0;
    const std::string longer = lines.back().empty() ? item : lines.back() + std::string(kDot) + item;
    if (lines.back().empty() || display_width(longer) + reserved <= room) {
      lines.back() = longer;
    } else if (is_last_line) {
      break;
    } else {
      lines.push_back(item);
    }
  }
  if (shown < items.size()) lines.back() += fmt::format("{}and {} more", kDot, items.size() - shown);
  return labeled(label, lines, style);
}

std::string version(const TraceInfo& info, std::string_view name) {
  const auto at = std::ranges::find(info.versions, name, &std::pair<std::string, std::string>::first);
  return at == info.versions.end() ? std::string() : at->second;
}

std::string device_text(const TraceInfo& info) {
  std::map<std::string, int> count_by_name;
  for (const Device& device : info.devices) {
    const std::string name = shown_name(device);
    ++count_by_name[name.empty() ? "unnamed GPU" : name];
  }
  std::vector<std::string> parts;
  for (const auto& [name, count] : count_by_name) {
    parts.push_back(count == 1 ? printable(name) : fmt::format("{} × {}", count, printable(name)));
  }
  return parts.empty() ? "CPU" : joined(parts, ", ");
}

std::string software_text(const TraceInfo& info) {
  const std::string cuda = version(info, "cuda_runtime"), driver = version(info, "cuda_driver");
  const std::string hip = version(info, "hip_runtime");
  return joined({cuda.empty() ? "" : "CUDA " + printable(cuda), driver.empty() ? "" : "driver " + printable(driver),
                 hip.empty() ? "" : "HIP " + printable(hip)},
                ", ");
}

std::string tool_of(const TraceInfo& info) {
  if (!info.tool.empty()) return info.tool;
  return info.format == "chrome" ? "Chrome trace" : printable(info.format);
}

// Snapshots have no place for steps, shapes and the like.
bool is_of_allocator(const TraceInfo& info) { return info.format == "memory_snapshot"; }

std::string headline(const TraceInfo& info, const TextStyle& style) {
  const std::string name =
      info.path == "-" ? "standard input" : printable(std::filesystem::path(info.path).filename().string());
  const std::string size = info.bytes && *info.bytes != info.text_bytes
                               ? fmt::format("{}, {} of text", size_of(*info.bytes), size_of(info.text_bytes))
                               : size_of(info.text_bytes);
  const std::string rest = std::string(kDot) + joined({tool_of(info), size}, kDot);
  const std::size_t room = std::max<std::size_t>(style.width, display_width(rest) + 10) - display_width(rest);
  return style.bold(cut_to_width(name, room)) + rest + '\n';
}

std::string summary(const TraceInfo& info, const TextStyle& style) {
  std::string when = info.recorded_at.value_or("");
  if (!when.empty()) when = when.substr(0, 10) + ' ' + when.substr(11, 5) + " UTC";
  const std::string steps = !info.steps.empty()     ? count_of(info.steps.size(), "step")
                            : is_of_allocator(info) ? ""
                                                    : "no steps marked";
  const std::string machine = joined({device_text(info), software_text(info)}, kDot);
  const std::string content =
      joined({format_time(info.duration_ns), steps, count_of(info.events, "event"), when}, kDot);
  return cut_to_width(machine, style.width) + '\n' + cut_to_width(content, style.width) + '\n';
}

// A bar for each kind, the longest of which fills the line.
std::string kind_bars(const TraceInfo& info, const TextStyle& style) {
  auto kinds = info.kinds;
  std::ranges::stable_sort(kinds, std::ranges::greater{}, &std::pair<Kind, std::uint64_t>::second);
  if (kinds.empty()) return {};
  constexpr std::size_t kNameWidth = 18, kCountWidth = 12, kMargin = 4;
  const std::size_t room = std::max<std::size_t>(style.width, 50) - kNameWidth - kCountWidth - kMargin;
  std::string text;
  for (std::size_t i = 0; i < std::min(kinds.size(), kMostKinds); ++i) {
    const auto& [kind, count] = kinds[i];
    const std::size_t length = static_cast<std::size_t>(count * room / kinds.front().second);
    std::string bar;
    for (std::size_t column = 0; column < std::max<std::size_t>(length, 1); ++column) bar += "▇";
    text += "  " + padded_right(name_of(kind), kNameWidth) + padded_left(count_of(count), kCountWidth) + "  " +
            style.colored(bar, color_of(kind)) + '\n';
  }
  std::vector<std::string> rest;
  for (std::size_t i = kMostKinds; i < kinds.size(); ++i) {
    rest.push_back(fmt::format("{} {}", name_of(kinds[i].first), count_of(kinds[i].second)));
  }
  if (!rest.empty()) text += "  " + joined(rest, kDot) + '\n';
  return text;
}

std::vector<std::string> tracks_of(const TraceInfo& info, TrackKind kind) {
  std::vector<const TrackInfo*> tracks;
  for (const TrackInfo& track : info.tracks) {
    if (track.kind == kind && track.events > 0) tracks.push_back(&track);
  }
  std::ranges::stable_sort(tracks, std::ranges::greater{}, &TrackInfo::events);
  std::vector<std::string> items;
  for (const TrackInfo* track : tracks) {
    const std::string device = track->device ? fmt::format("{} {} ", info.device_word, *track->device) : "";
    items.push_back(device + track->name + ": " + count_of(track->events));
  }
  return items;
}

std::vector<std::string> steps_of(const TraceInfo& info) {
  std::vector<std::string> items;
  for (const StepInfo& step : info.steps)
    items.push_back(fmt::format("#{} {}", step.index, format_time(step.duration_ns)));
  return items;
}

std::string recorded_line(const TraceInfo& info, const TextStyle& style) {
  const std::pair<std::string_view, bool> choices[] = {
      {"shapes", info.recorded.shapes},
      {info.recorded.sampled ? "stacks by samples" : "stacks", info.recorded.stacks},
      {"memory", info.recorded.memory},
      {"modules", info.recorded.modules},
      {"FLOPs", info.recorded.flops}};
  std::vector<std::string> with, without;
  for (const auto& [name, is_recorded] : choices) (is_recorded ? with : without).emplace_back(name);
  std::string text = with.empty() ? "times alone" : "times, " + joined(with, ", ");
  if (is_of_allocator(info))
    text = info.recorded.stacks ? "allocations, stacks" : "allocations; without stacks";
  else if (!without.empty())
    text += "; without " + joined(without, ", ");
  return list_line("Recorded", {text}, style);
}

std::string extras_line(const TraceInfo& info, const TextStyle& style) {
  std::vector<std::string> items;
  if (info.memory_events > 0) items.push_back(count_of(info.memory_events, "memory event"));
  if (info.counter_values > 0) items.push_back(count_of(info.counter_values, "counter value"));
  if (info.flows > 0) items.push_back(count_of(info.flows, "other link"));
  return items.empty() ? std::string() : list_line("Besides", items, style);
}

std::string clock_line(const TraceInfo& info, const TextStyle& style) {
  if (!info.device_clock) return {};
  const DeviceClock& clock = *info.device_clock;
  return list_line("Clocks",
                   {fmt::format("the device's times fit the host's within {}", format_time(clock.residual_ns)),
                    fmt::format("drift {:.3g} ppm", clock.drift_ppm), count_of(clock.samples, "reading")},
                   style);
}

std::string distributed_line(const TraceInfo& info, const TextStyle& style) {
  if (!info.distributed) return {};
  const Distributed& distributed = *info.distributed;
  std::vector<std::string> items;
  if (distributed.rank && distributed.world_size) {
    items.push_back(fmt::format("rank {} of {}", *distributed.rank, *distributed.world_size));
  }
  if (!distributed.backend.empty()) items.push_back(distributed.backend);
  if (!distributed.nccl_version.empty()) items.push_back("NCCL " + distributed.nccl_version);
  if (!distributed.groups.empty()) items.push_back(count_of(distributed.groups.size(), "process group"));
  return items.empty() ? std::string() : list_line("Distributed", items, style);
}

std::string_view label_of(Severity severity) {
  constexpr auto kLabels = std::to_array<std::string_view>({"Lost", "Repaired", "Notes"});
  return kLabels[static_cast<std::size_t>(severity)];
}

std::string anomaly_lines(const TraceInfo& info, const TextStyle& style) {
  if (info.anomalies.empty()) return list_line("Anomalies", {"none"}, style);
  std::string text;
  std::optional<Severity> last;
  for (const AnomalyCount& anomaly : info.anomalies) {
    const Severity severity = severity_of(anomaly.anomaly);
    std::string item = fmt::format("{} × {}", count_of(anomaly.count), description_of(anomaly.anomaly));
    if (has_telling_example(anomaly.anomaly) && !anomaly.example.text.empty())
      item += ' ' + printable(anomaly.example.text) + '.';
    const std::string_view label = severity == last ? std::string_view() : label_of(severity);
    text += labeled(label, wrapped_words(item, room_beside_label(style)), style);
    last = severity;
  }
  return text;
}

}  // namespace

std::string info_card(const TraceInfo& info, const TextStyle& style) {
  const auto list = [&](std::string_view label, const std::vector<std::string>& items) {
    return items.empty() ? std::string() : list_line(label, items, style);
  };
  return headline(info, style) + summary(info, style) + '\n' + kind_bars(info, style) + '\n' +
         list("Steps", steps_of(info)) + list("Threads", tracks_of(info, TrackKind::kThread)) +
         list("Streams", tracks_of(info, TrackKind::kStream)) + recorded_line(info, style) + clock_line(info, style) +
         extras_line(info, style) + distributed_line(info, style) + anomaly_lines(info, style);
}

}  // namespace telltale
