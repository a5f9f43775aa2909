#include "report/analyze_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <variant>

#include "advise/device_word.h"
#include "advise/request_words.h"
#include "advise/rule_info.h"
#include "base/amounts.h"
#include "report/activity_words.h"
#include "report/memory_words.h"
#include "report/shown_names.h"
#include "report/text_width.h"
#include "trace/unrecorded_steps.h"

namespace telltale {
namespace {

// What the device does, after "it is busy, mostly".
std::string_view busy_with(WorkClass work) {
  constexpr std::array<std::string_view, kWorkClassCount> kPhrases = {
      "with matmul",     "with convolutions",  "with attention", "with normalization", "with elementwise work",
      "with reductions", "with the optimizer", "copying",        "communicating",      "with other work",
  };
  return kPhrases[static_cast<std::size_t>(work)];
}

// What the device waits for, after "it waits, mostly".
std::string_view waits_for(HostWork cause) {
  constexpr std::array<std::string_view, kHostWorkCount> kPhrases = {
      "for the data loader",
      "for the host to continue after a sync",
      "for the host to launch work",
      "for Python",
      "for the host's side of operators",
      "for the host to start copies",
      "for the memory allocator",
      "for compilation",
      "for Python's garbage collector",
      "while the host waits for something else",
      "for the other ranks or the network",
      "for the program's own work on the host",
      "for something the trace does not show",
  };
  return kPhrases[static_cast<std::size_t>(cause)];
}

// The largest part of one sort, which is the first; null when there is none.
template <typename Work>
const BreakdownPart* largest(const std::vector<BreakdownPart>& parts) {
  const auto at =
      std::ranges::find_if(parts, [](const BreakdownPart& part) { return std::holds_alternative<Work>(part.what); });
  return at == parts.end() ? nullptr : &*at;
}

// So that sentences must say which of the two they are about.
bool is_much_longer_as_recorded(const Diagnosis& diagnosis) {
  return diagnosis.slowdown_percent() >= kSlowdownWorthSaying;
}

// "44.1 to 52.0 ms; ", without the unit twice where both have the same; empty where they are the same.
std::string range_text(Nanoseconds low, Nanoseconds high) {
  const std::string from = format_time(low), to = format_time(high);
  if (from == to) return {};
  const std::size_t unit = from.rfind(' ');
  const bool shares_unit = unit != std::string::npos && to.ends_with(from.substr(unit));
  return fmt::format("{} to {}; ", shares_unit ? from.substr(0, unit) : from, to);
}

// "20 % slower", or "no slower".
std::string slower_text(double percent) {
  return percent < kSlowdownWorthSaying ? "no slower" : format_percent(percent) + " slower";
}
std::string slowdown_text(const Diagnosis& diagnosis) { return slower_text(diagnosis.slowdown_percent()); }

double paused_steps(const Trace& trace) {
  double steps = 0;
  for (const UnrecordedStretch& stretch : unrecorded_steps(trace))
    if (stretch.when == Unrecorded::kPaused) steps += static_cast<double>(stretch.took.size());
  return steps;
}

// "58.0 ms as recorded: recording made it 20 % slower".
std::string cost_text(const Diagnosis& diagnosis) {
  const std::string recorded = format_time(diagnosis.recorded_ns);
  if (diagnosis.has_slower_device())
    return fmt::format("{} as recorded, when the GPU took longer for the same work", recorded);
  return fmt::format("{} as recorded: recording made it {}", recorded, slowdown_text(diagnosis));
}

// The unobserved step, and what is known of it: "about 48.5 ms unprofiled (44.1 to 52.0 ms; 58.0 ms as recorded:
// recording made it 20 % slower)". What was measured is always said; an estimate of next to nothing is not.
std::string step_text(const Diagnosis& diagnosis) {
  const std::string time = format_time(diagnosis.unobserved_ns), recorded = format_time(diagnosis.recorded_ns);
  const std::string cost = cost_text(diagnosis);
  if (diagnosis.unobserved_source == UnobservedSource::kMeasured)
    return fmt::format("{}, measured over {} ({})", time,
                       counted(static_cast<double>(diagnosis.unrecorded_steps), "unrecorded step"), cost);
  if (diagnosis.trace.is_ours) return fmt::format("{} as recorded; what recording cost was not measured", recorded);
  if (diagnosis.slowdown_percent() < kSlowdownWorthSaying) return time;
  const std::string range = range_text(diagnosis.unobserved_low_ns, diagnosis.unobserved_high_ns);
  return fmt::format("about {} unprofiled ({}{})", time, range, cost);
}

std::string step_sentence(const Diagnosis& diagnosis) {
  if (diagnosis.requests) return latency_sentence(*diagnosis.requests);
  const std::string text = step_text(diagnosis);
  if (diagnosis.timing.source == StepSource::kWhole)
    return fmt::format("The trace marks no steps and nothing in it repeats, so it counts as one step of {}.", text);
  if (diagnosis.timing.source == StepSource::kParts)
    return fmt::format(
        "The trace has a single pass that warms up, so each of its alike parts counts as a step, which takes {}.",
        text);
  return fmt::format("A step takes {}.", text);
}

std::string device_sentence(const Diagnosis& diagnosis) {
  const StepBreakdown& breakdown = diagnosis.breakdown;
  const std::vector<BreakdownPart> parts = breakdown.parts();
  const BreakdownPart* work = largest<WorkClass>(parts);
  const BreakdownPart* cause = largest<HostWork>(parts);
  const std::string mostly =
      work == nullptr ? std::string() : fmt::format(", mostly {}", busy_with(std::get<WorkClass>(work->what)));
  if (cause == nullptr || breakdown.idle_percent() < kSlowdownWorthSaying) {
    return fmt::format("The GPU is always busy{} ({}).", mostly, format_percent(work == nullptr ? 0 : work->percent));
  }
  const std::string busy = format_percent(breakdown.busy_percent());
  const std::string_view whole = is_much_longer_as_recorded(diagnosis) ? "the recorded step" : "it";
  const std::string waits = fmt::format("otherwise it waits, mostly {}", waits_for(std::get<HostWork>(cause->what)));
  if (breakdown.busy_percent() < 50) {
    return fmt::format("The GPU is busy only {} of {}; {} ({}).", busy, whole, waits, format_percent(cause->percent));
  }
  return fmt::format("The GPU is busy {} of {}{}; {}.", busy, whole, mostly, waits);
}

// "train.py:12", for a sentence; empty where it is not known.
std::string place_text(const std::optional<SourceLine>& source) {
  return source ? fmt::format(" ({})", printable(short_place(*source))) : std::string();
}

// "mostly addmm", without the library that the operator is of.
std::string mostly_operator(const StepBreakdown& breakdown) {
  const std::string& name = breakdown.longest_operator;
  if (name.empty()) return {};
  const std::size_t library = name.find("::");
  return fmt::format(" (mostly {})", name_in_sentence(library == std::string::npos ? name : name.substr(library + 2)));
}

std::string waiting_phrase(const std::vector<HostWait>& waits) {
  if (waits.empty()) return "waits";
  return fmt::format("waits{}for {}{}", waits.size() > 1 ? ", mostly " : " ", phrase_of(waits.front().what),
                     place_text(waits.front().source));
}

// What the host does, after "70 % of it".
std::string does(const Diagnosis& diagnosis, HostWork work) {
  constexpr std::array<std::string_view, kHostWorkCount> kPhrases = {
      "loads data",
      "waits for a device",
      "calls a device",
      "runs Python",
      "runs operators",
      "copies",
      "allocates",
      "compiles",
      "collects garbage",
      "waits",
      "waits for the other ranks or the network",
      "runs its own scopes",
      "does nothing that was recorded",
  };
  std::string text(kPhrases[static_cast<std::size_t>(work)]);
  if (work == HostWork::kOperators) text += mostly_operator(diagnosis.breakdown);
  if (work == HostWork::kWaiting) text = waiting_phrase(diagnosis.waits);
  return text;
}

constexpr std::size_t kMostPartsSaid = 3;
constexpr double kLeastPartSaid = 2;  // percent

std::string host_sentence(const Diagnosis& diagnosis) {
  std::string text;
  std::size_t said = 0;
  for (const BreakdownPart& part : diagnosis.breakdown.parts()) {
    const auto* work = std::get_if<HostWork>(&part.what);
    if (work == nullptr || said == kMostPartsSaid || (said > 0 && part.percent < kLeastPartSaid)) continue;
    const std::string_view whole = diagnosis.requests                                     ? " of a request"
                                   : diagnosis.observer_percent() >= kSlowdownWorthSaying ? " of the recorded step"
                                                                                          : " of it";
    text += fmt::format("{}{}{} {}", said == 0 ? "" : ", ", format_percent(part.percent), said == 0 ? whole : "",
                        does(diagnosis, *work));
    ++said;
  }
  return text.empty() ? text : text + '.';
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
  return text.empty() ? "CPU" : text;
}

constexpr std::size_t kMostTitles = 4;

// "memory that grows"; "CUDA graphs" stays.
std::string in_sentence(std::string title) {
  const bool is_word = title.size() > 1 && title[1] >= 'a' && title[1] <= 'z';
  if ((is_word || title.starts_with("A ")) && !title.starts_with("Python") && title.front() >= 'A' &&
      title.front() <= 'Z')
    title.front() += 'a' - 'A';
  return title;
}

// "Recorded without stacks and memory, and with fewer than 3 steps"
std::string lacking_text(const std::vector<Need>& lacking) {
  std::vector<std::string> unrecorded;
  for (const Need need : lacking)
    if (need != Need::kSteps) unrecorded.emplace_back(name_of(need));
  const bool lacks_steps = unrecorded.size() < lacking.size();
  if (unrecorded.empty()) return fmt::format("With fewer than {} steps", kStepsNeeded);
  return fmt::format("Recorded without {}{}", listed(unrecorded),
                     lacks_steps ? fmt::format(", and with fewer than {} steps", kStepsNeeded) : std::string());
}

}  // namespace

std::string_view label_of(WorkClass work) { return name_of(work); }

std::string_view label_of(HostWork work) {
  constexpr std::array<std::string_view, kHostWorkCount> kLabels = {
      "data loading",       "sync",    "launching",     "Python", "operators", "copies", "allocator", "compiling",
      "garbage collection", "waiting", "communication", "scopes", "unknown",
  };
  return kLabels[static_cast<std::size_t>(work)];
}

std::string_view label_of(const BreakdownPart& part) {
  return std::visit([](auto what) { return label_of(what); }, part.what);
}

std::string file_label(const Diagnosis& diagnosis) { return file_label(diagnosis.path); }

std::string file_label(const std::string& path) {
  if (path == "-") return "standard input";
  return printable(std::filesystem::path(path).filename().string());
}

std::string steps_label(const StepTiming& timing) {
  if (timing.source == StepSource::kWhole) return "no steps";
  return counted(static_cast<double>(timing.steps.size()), "step");
}

std::string subject_line(const Diagnosis& diagnosis) {
  if (diagnosis.is_of_memory_alone)
    return fmt::format("{} · {} of PyTorch's allocator", file_label(diagnosis),
                       diagnosis.host.window_ns > 0 ? format_time(diagnosis.host.window_ns) : "a snapshot");
  if (!diagnosis.is_about_steps) return activity_subject(diagnosis);
  const std::string steps = diagnosis.requests
                                ? counted(static_cast<double>(diagnosis.requests->events.size()), "request")
                                : steps_label(diagnosis.timing);
  return fmt::format("{} · {} · {}", file_label(diagnosis), device_names(diagnosis), steps);
}

Headline headline(const Diagnosis& diagnosis) {
  if (diagnosis.is_of_memory_alone) return {peak_sentence(diagnosis), held_sentence(diagnosis)};
  if (!diagnosis.is_about_steps) return activity_headline(diagnosis);
  if (diagnosis.recorded_ns <= 0) return {"Nothing in the trace takes any time.", ""};
  return {with_device_word(step_sentence(diagnosis), diagnosis.device_word),
          diagnosis.breakdown.has_device ? with_device_word(device_sentence(diagnosis), diagnosis.device_word)
                                         : host_sentence(diagnosis)};
}

std::string recording_cost_text(const Diagnosis& diagnosis, const Trace& trace) {
  if (!diagnosis.is_about_steps || diagnosis.recorded_ns <= 0) return {};
  if (diagnosis.unobserved_source != UnobservedSource::kMeasured)
    return "what recording cost was not measured: too few steps ran unrecorded";
  if (diagnosis.has_slower_device())
    return with_device_word(
        fmt::format("the GPU took longer for recorded steps than for the {} that ran unrecorded, which hides what "
                    "recording cost",
                    format_count(diagnosis.unrecorded_steps)),
        diagnosis.device_word);
  const std::string text = fmt::format("recording made steps {} than the {} that ran unrecorded",
                                       slowdown_text(diagnosis), format_count(diagnosis.unrecorded_steps));
  const auto recorded = static_cast<double>(trace.steps.size()), paused = paused_steps(trace);
  if (paused == 0) return text;
  return text + fmt::format(", and the {} together {}", counted(recorded + paused, "step"),
                            slower_text(diagnosis.slowdown_percent() * recorded / (recorded + paused)));
}

std::string headline_text(const Diagnosis& diagnosis) {
  const Headline parts = headline(diagnosis);
  return parts.filling.empty() ? parts.step : parts.step + ' ' + parts.filling;
}

std::string breakdown_caption(const Diagnosis& diagnosis) {
  const std::string time = format_time(diagnosis.breakdown.step);
  if (!diagnosis.breakdown.has_device) return fmt::format("{} of the busiest thread", time);
  const std::string_view recorded = is_much_longer_as_recorded(diagnosis) ? ", as recorded" : "";
  const std::string device = diagnosis.devices.size() < 2
                                 ? std::string()
                                 : fmt::format(", on GPU {}, the busiest", diagnosis.breakdown.device);
  return fmt::format("a step of {}{}{}", time, recorded, device);
}

std::string saving_range(const Saving& saving) {
  const std::string low = percent_digits(saving.low_percent);
  const std::string high = percent_digits(saving.high_percent);
  return low == high ? low : low + " to " + high;
}

std::string memory_saving_text(const Finding& finding) {
  if (finding.saving_bytes <= 0) return {};
  std::string text = "frees " + format_bytes(finding.saving_bytes);
  if (finding.cost && *finding.cost > 0) text += ", costs " + format_time(*finding.cost);
  return text;
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

std::string parts_text(const Finding& finding) {
  std::string text;
  for (const FindingPart& part : finding.parts) text += (text.empty() ? "" : "; ") + part.title;
  return text.empty() ? text : "The same change helps here: " + text + '.';
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

std::string nothing_found_text(const Diagnosis& diagnosis) {
  const Look& look = diagnosis.look;
  if (look.rules == 0) return std::string(kNothingFound);
  std::string text(kNothingFound.substr(0, kNothingFound.size() - 1));
  text += fmt::format("; {} looked", counted(static_cast<double>(look.rules), "rule"));
  if (!look.blind.empty()) text += fmt::format(" and {} could not", look.blind.size());
  return text + '.';
}

std::string look_text(const Look& look) {
  if (look.blind.empty()) return {};
  std::vector<std::string> titles;
  for (const BlindRule& rule : look.blind) titles.push_back(in_sentence(rule.title));
  const std::size_t left = titles.size() > kMostTitles ? titles.size() - kMostTitles : 0;
  titles.resize(titles.size() - left);
  if (left > 0) titles.push_back(fmt::format("{} more", left));
  std::string text = fmt::format("{}: {} could not look ({}).", lacking_text(look.lacking),
                                 counted(static_cast<double>(look.blind.size()), "rule"), listed(titles));
  if (look.remedy.empty()) return text;
  return fmt::format("{} To let {} look: {}.", text, look.blind.size() == 1 ? "it" : "them", look.remedy);
}

std::string remarks_text(const Diagnosis& diagnosis) {
  std::string text = look_text(diagnosis.look);
  for (const std::string& remark : diagnosis.remarks) text += (text.empty() ? "" : " ") + remark;
  return text;
}

}  // namespace telltale
