#include "report/analyze_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>

#include "advise/rule_info.h"
#include "base/amounts.h"
#include "report/activity_words.h"
#include "report/text_width.h"

namespace telltale {
namespace {

constexpr double kWorthSaying = 0.5;  // percent: what rounds to nothing is not mentioned

// What the device waits for, after "it waits, mostly".
std::string_view waits_for(HostWork cause) {
  constexpr std::array<std::string_view, kHostWorkCount> kPhrases = {
      "for the data loader",
      "for the host to go on after synchronizing with it",
      "for the host to launch work",
      "for Python",
      "for the host's side of operators",
      "for the host to hand over copies",
      "for the memory allocator",
      "for compilation",
      "for Python's garbage collector",
      "for the program's own work on the host",
      "for something the trace does not show",
  };
  return kPhrases[static_cast<std::size_t>(cause)];
}

template <std::size_t kCount>
std::size_t largest(const std::array<Nanoseconds, kCount>& times) {
  return static_cast<std::size_t>(std::ranges::max_element(times) - times.begin());
}

std::string step_sentence(const Diagnosis& diagnosis) {
  const double observer = diagnosis.observer_percent();
  const std::string time = format_time(diagnosis.unobserved_ns);
  const std::string recorded = observer < kWorthSaying
                                   ? std::string()
                                   : fmt::format(" ({} as recorded: profiling cost {})",
                                                 format_time(diagnosis.recorded_ns), format_percent(observer));
  if (diagnosis.timing.source == StepSource::kWhole) {
    return fmt::format("The trace marks no steps and repeats nothing, so all of it counts as one: {}{}.", time,
                       recorded);
  }
  return fmt::format("A step takes {}{}.", time, recorded);
}

std::string device_sentence(const Diagnosis& diagnosis) {
  const StepBreakdown& breakdown = diagnosis.breakdown;
  const double busy = percent_of(breakdown.busy_total(), breakdown.step);
  const double idle = percent_of(breakdown.idle_total(), breakdown.step);
  const std::size_t work = largest(breakdown.busy), cause = largest(breakdown.idle);
  const std::string mostly = fmt::format("mostly {}", name_of(static_cast<WorkClass>(work)));
  if (idle < kWorthSaying) {
    return fmt::format("The GPU computes all the time, {} ({}).", mostly,
                       format_percent(percent_of(breakdown.busy[work], breakdown.step)));
  }
  const bool differs = diagnosis.observer_percent() >= kWorthSaying;
  const std::string waits = fmt::format("the rest it waits, mostly {}", waits_for(static_cast<HostWork>(cause)));
  if (busy < 50) {
    return fmt::format("The GPU computes only {} of {}; {} ({}).", format_percent(busy),
                       differs ? "the recorded step" : "it", waits,
                       format_percent(percent_of(breakdown.idle[cause], breakdown.step)));
  }
  return fmt::format("The GPU computes {} of {}, {}; {}.", format_percent(busy), differs ? "the recorded step" : "it",
                     mostly, waits);
}

std::string host_sentence(const Diagnosis& diagnosis) {
  const StepBreakdown& breakdown = diagnosis.breakdown;
  const std::size_t most = largest(breakdown.idle);
  if (breakdown.idle[most] == 0) return "The trace has no device work.";
  const auto work = static_cast<HostWork>(most);
  const std::string share = format_percent(percent_of(breakdown.idle[most], breakdown.step));
  constexpr std::string_view kWhose = "There is no device work in the trace: this is the time of the busiest thread";
  if (work == HostWork::kUnknown) return fmt::format("{}, which does nothing that was recorded for {}.", kWhose, share);
  return fmt::format("{}, {} of it {}.", kWhose, share, label_of(work));
}

std::string device_names(const Diagnosis& diagnosis) {
  std::map<std::string, int> count_by_name;
  for (const DeviceUse& device : diagnosis.devices) {
    ++count_by_name[device.name.empty() ? "unnamed GPU" : printable(device.name)];
  }
  std::string text;
  for (const auto& [name, count] : count_by_name) {
    text += (text.empty() ? "" : ", ") + (count == 1 ? name : fmt::format("{} × {}", count, name));
  }
  return text.empty() ? "no GPU" : text;
}

void sort_by_time(std::vector<BreakdownRow>& rows) {
  std::ranges::stable_sort(rows, [](const BreakdownRow& one, const BreakdownRow& other) {
    return std::pair(other.is_idle, one.ns) > std::pair(one.is_idle, other.ns);
  });
}

}  // namespace

double percent_of(Nanoseconds part, Nanoseconds whole) {
  return whole <= 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string_view label_of(HostWork work) {
  constexpr std::array<std::string_view, kHostWorkCount> kLabels = {
      "data loading", "sync",      "launching",          "Python", "operators", "copies",
      "allocator",    "compiling", "garbage collection", "scopes", "unknown",
  };
  return kLabels[static_cast<std::size_t>(work)];
}

std::vector<BreakdownRow> breakdown_rows(const Diagnosis& diagnosis) {
  const StepBreakdown& breakdown = diagnosis.breakdown;
  std::vector<BreakdownRow> rows;
  for (int i = 0; i < kWorkClassCount; ++i) {
    const auto work = static_cast<WorkClass>(i);
    const Nanoseconds ns = breakdown.busy[static_cast<std::size_t>(i)];
    if (ns == 0) continue;
    const std::string name(name_of(work));
    rows.push_back({name, name, false, ns, percent_of(ns, breakdown.step), color_of(work), fmt::format("w{}", i)});
  }
  for (int i = 0; i < kHostWorkCount; ++i) {
    const auto cause = static_cast<HostWork>(i);
    const Nanoseconds ns = breakdown.idle[static_cast<std::size_t>(i)];
    if (ns == 0) continue;
    const std::string prefix = breakdown.has_device ? "idle_" : "";
    rows.push_back({prefix + std::string(name_of(cause)), std::string(label_of(cause)), breakdown.has_device, ns,
                    percent_of(ns, breakdown.step), color_of(cause), fmt::format("h{}", i)});
  }
  sort_by_time(rows);
  return rows;
}

std::string file_label(const Diagnosis& diagnosis) { return file_label(diagnosis.path); }

std::string file_label(const std::string& path) {
  if (path == "-") return "standard input";
  return printable(std::filesystem::path(path).filename().string());
}

std::string steps_label(const StepTiming& timing) {
  if (timing.source == StepSource::kWhole) return "no steps";
  if (timing.steps.size() == 1) return "1 step";
  return format_count(static_cast<std::int64_t>(timing.steps.size())) + " steps";
}

std::string subject_line(const Diagnosis& diagnosis) {
  if (!diagnosis.is_about_steps) return activity_subject(diagnosis);
  return fmt::format("{} · {} · {}", file_label(diagnosis), device_names(diagnosis), steps_label(diagnosis.timing));
}

Headline headline(const Diagnosis& diagnosis) {
  if (!diagnosis.is_about_steps) return activity_headline(diagnosis);
  if (diagnosis.recorded_ns <= 0) return {"The trace has no time in it that could be divided.", ""};
  return {step_sentence(diagnosis),
          diagnosis.breakdown.has_device ? device_sentence(diagnosis) : host_sentence(diagnosis)};
}

std::string headline_text(const Diagnosis& diagnosis) {
  const Headline parts = headline(diagnosis);
  return parts.filling.empty() ? parts.step : parts.step + ' ' + parts.filling;
}

std::string breakdown_caption(const Diagnosis& diagnosis) {
  const std::string time = format_time(diagnosis.breakdown.step);
  if (!diagnosis.breakdown.has_device) return fmt::format("{} of the busiest thread", time);
  const std::string_view recorded = diagnosis.observer_percent() >= kWorthSaying ? ", as recorded" : "";
  const std::string device = diagnosis.devices.size() < 2
                                 ? std::string()
                                 : fmt::format(", on GPU {}, the busiest", diagnosis.breakdown.device);
  return fmt::format("a step of {}{}{}", time, recorded, device);
}

bool is_about_time(const Finding& finding) { return finding.saving.likely > 0 || finding.saving.high > 0; }

double saving_percent(const Diagnosis& diagnosis, Nanoseconds saving) {
  return percent_of(saving, diagnosis.unobserved_ns);
}

std::string saving_range(const Diagnosis& diagnosis, const Saving& saving) {
  const std::string low = percent_digits(saving_percent(diagnosis, saving.low));
  const std::string high = percent_digits(saving_percent(diagnosis, saving.high));
  return low == high ? low : low + " to " + high;
}

std::string source_text(const SourceLine& source) {
  const std::filesystem::path path(source.file);
  const std::string folder = path.parent_path().filename().string();
  std::string text = folder.empty() || folder == "." || folder == "/" ? path.filename().string()
                                                                      : folder + '/' + path.filename().string();
  if (source.line > 0) text += fmt::format(":{}", source.line);
  if (!source.function.empty()) text += " in " + source.function;
  return printable(text);
}

std::string doubt_of(const Finding& finding) {
  return finding.confidence == Confidence::kLow ? "low confidence" : std::string();
}

std::string also_explains_text(const Finding& finding) {
  std::string text;
  for (const std::string& rule : finding.also_explains) {
    const auto infos = rule_infos();
    const auto info = std::ranges::find(infos, rule, &RuleInfo::id);
    text += (text.empty() ? "" : ", ") + (info == infos.end() ? rule : std::string(info->title));
  }
  return text.empty() ? text : "Also explains: " + text + '.';
}

std::string anomaly_note(const Trace& trace) {
  const std::uint64_t count = trace.anomalies.total();
  if (count == 0) return {};
  std::string text;
  for (const AnomalyCount& lost : trace.anomalies.list()) {
    if (!has_telling_example(lost.anomaly)) continue;
    text += fmt::format("{} {}. ", description_of(lost.anomaly), printable(lost.example.text));
  }
  if (count == 1) return text + "The file has 1 anomaly: telltale info shows it.";
  return text + fmt::format("The file has {} anomalies: telltale info lists them.",
                            format_count(static_cast<std::int64_t>(count)));
}

}  // namespace telltale
