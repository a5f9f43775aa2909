#include "report/memory_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>

#include "base/amounts.h"
#include "report/analyze_words.h"
#include "report/text_width.h"

namespace telltale {
namespace {

double share_of(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

// 4231 → 4200: it is a guess.
double in_two_digits(double count) {
  const double grain = std::pow(10, std::max(0.0, std::floor(std::log10(std::max(count, 1.0))) - 1));
  return std::round(count / grain) * grain;
}

// "Process 1234, a worker of the data loader,"
std::string process_words(const GrowingResident& process) {
  if (process.child.empty()) return "The process itself";
  std::string words = printable(process.child);
  words.front() = 'P';
  return words + (process.is_loader_worker ? ", a worker of the data loader," : ", a child of the recorded one,");
}

std::string label_of(const DeviceCauses& device, const MemoryCauses& causes, std::string_view device_word) {
  if (device.peak.device == kHost) return "The host";
  const auto devices =
      std::ranges::count_if(causes.devices, [](const DeviceCauses& each) { return each.peak.device != kHost; });
  return devices == 1 ? fmt::format("The {}", device_word) : fmt::format("{} {}", device_word, device.peak.device);
}

std::string peak_sentence_of(const DeviceCauses& device, const MemoryCauses& causes, std::string_view device_word) {
  const MemoryPeak& peak = device.peak;
  std::string text = fmt::format("{} has {} allocated{}", label_of(device, causes, device_word),
                                 format_bytes(peak.allocated), device.has_history ? " at most" : "");
  if (peak.capacity)
    text += fmt::format(" of its {} ({})", format_bytes(*peak.capacity),
                        format_percent(share_of(peak.allocated, *peak.capacity)));
  if (!device.has_history) text += " when the snapshot is taken";
  if (peak.reserved > 0)
    text += fmt::format("; PyTorch reserves {}{}", device.has_history ? "up to " : "", format_bytes(peak.reserved));
  return text + '.';
}

std::vector<const MemoryLeak*> leaks_of(const MemoryReport& report, bool are_of_processes) {
  std::vector<const MemoryLeak*> leaks;
  for (const MemoryLeak& leak : report.causes.leaks)
    if (leak.process.has_value() == are_of_processes) leaks.push_back(&leak);
  return leaks;
}

// "variable 'log' of main (train.py:3) → list of 20": links lead from a tensor to a variable.
std::string way_from_variable(std::span<const std::string> links) {
  std::string text;
  for (const std::string& link : links | std::views::reverse) text += (text.empty() ? "" : " → ") + printable(link);
  return text;
}

}  // namespace

Color color_of(MemoryUse use) {
  switch (use) {
    case MemoryUse::kParameters:
      return color_of(WorkClass::kMatmul);
    case MemoryUse::kGradients:
      return color_of(WorkClass::kAttention);
    case MemoryUse::kOptimizerState:
      return color_of(WorkClass::kNormalization);
    case MemoryUse::kActivations:
      return color_of(HostWork::kLaunching);
    case MemoryUse::kTemporaries:
      return color_of(HostWork::kPython);
    case MemoryUse::kInputs:
      return color_of(WorkClass::kElementwise);
    case MemoryUse::kCommunication:
      return color_of(WorkClass::kCommunication);
    case MemoryUse::kWorkspace:
      return color_of(WorkClass::kReduction);
    case MemoryUse::kKvCache:
      return color_of(HostWork::kAllocator);
    case MemoryUse::kCudaGraphs:
      return color_of(HostWork::kCompilation);
    case MemoryUse::kOutside:
      return color_of(HostWork::kCopies);
    case MemoryUse::kBefore:
      return color_of(WorkClass::kOther);
    case MemoryUse::kLeftBehind:
      return color_of(HostWork::kWaiting);
    case MemoryUse::kOther:
      break;
  }
  return color_of(HostWork::kUnknown);
}

std::span<const MemoryUse> stacked_uses() {
  static constexpr MemoryUse kOrder[] = {MemoryUse::kBefore,         MemoryUse::kLeftBehind, MemoryUse::kParameters,
                                         MemoryUse::kOptimizerState, MemoryUse::kGradients,  MemoryUse::kCommunication,
                                         MemoryUse::kWorkspace,      MemoryUse::kCudaGraphs, MemoryUse::kKvCache,
                                         MemoryUse::kInputs,         MemoryUse::kOther,      MemoryUse::kActivations,
                                         MemoryUse::kTemporaries};
  return kOrder;
}

std::string memory_subject(const MemoryReport& report) {
  std::string text = file_label(report.path);
  std::vector<std::string> named;
  for (const std::string& name : report.device_names)
    if (!name.empty() && std::ranges::find(named, name) == named.end()) named.push_back(name);
  for (const std::string& name : named) text += " · " + name;
  if (report.steps > 0) text += " · " + counted(static_cast<double>(report.steps), "step");
  return printable(text);
}

std::string device_label(const MemoryReport& report, const DeviceCauses& device) {
  return label_of(device, report.causes, report.device_word);
}

std::string peak_sentence(const MemoryReport& report, const DeviceCauses& device) {
  return peak_sentence_of(device, report.causes, report.device_word);
}

std::string peak_sentence(const Diagnosis& diagnosis) {
  const DeviceCauses* const device = fullest(*diagnosis.memory_causes);
  return device == nullptr ? std::string() : peak_sentence_of(*device, *diagnosis.memory_causes, diagnosis.device_word);
}

std::string held_sentence(const Diagnosis& diagnosis) {
  constexpr std::size_t kMostNamed = 3;
  const DeviceCauses* const device = fullest(*diagnosis.memory_causes);
  if (device == nullptr) return {};
  std::vector<std::string> uses;
  for (const UseBytes& use : device->peak.uses)
    if (use.use != MemoryUse::kOutside && uses.size() < kMostNamed)
      uses.push_back(fmt::format("{} {}", format_bytes(use.bytes), words_for(use.use)));
  const std::string who = fmt::format("telltale memory {} says who made it", file_label(diagnosis.path));
  return uses.empty() ? who + '.' : fmt::format("It holds {}; {}.", listed(uses), who);
}

std::string_view peak_heading(const DeviceCauses& device) {
  return device.has_history ? "At the peak" : "In the snapshot";
}

std::string peak_place_sentence(const DeviceCauses& device) {
  const MemoryPeak& peak = device.peak;
  if (!device.has_history) return {};
  std::string text = "The peak is at " + format_time(peak.time);
  if (!peak.at_operator.empty()) text += ", in " + printable(peak.at_operator);
  if (!peak.at_module.empty()) text += (peak.at_operator.empty() ? ", in " : " of ") + printable(peak.at_module);
  if (peak.source) text += ", " + source_text(*peak.source);
  return text + '.';
}

std::string steps_sentence(const DeviceCauses& device) {
  const std::vector<StepMemory>& steps = device.timeline.steps;
  if (steps.size() < 2) return {};
  const auto [least, most] = std::ranges::minmax_element(steps, {}, &StepMemory::peak);
  if (device.timeline.peaks_rise)
    return fmt::format("The {} steps peak higher and higher, from {} to {}.", steps.size(),
                       format_bytes(steps.front().peak), format_bytes(steps.back().peak));
  const auto unlike = std::ranges::count_if(steps, &StepMemory::differs);
  if (unlike == 0) {
    if (format_bytes(least->peak) == format_bytes(most->peak))
      return fmt::format("{} steps peak at {}.", steps.size() == 2 ? "Both" : fmt::format("All {}", steps.size()),
                         format_bytes(most->peak));
    return fmt::format("The {} steps are alike: each peaks between {} and {}.", steps.size(), format_bytes(least->peak),
                       format_bytes(most->peak));
  }
  if (2 * unlike > std::ssize(steps))
    return fmt::format("The {} steps differ: they peak between {} and {}, step {} most.", steps.size(),
                       format_bytes(least->peak), format_bytes(most->peak), most->index);
  const auto odd =
      std::ranges::max_element(steps, {}, [](const StepMemory& step) { return step.differs ? step.peak : INT64_MIN; });
  return fmt::format("{} of {} steps {} unlike the others: step {} peaks at {}; all lie between {} and {}.", unlike,
                     steps.size(), unlike == 1 ? "is" : "are", odd->index, format_bytes(odd->peak),
                     format_bytes(least->peak), format_bytes(most->peak));
}

std::string fragmentation_sentence(const DeviceCauses& device) {
  if (!device.fragmentation) return {};
  const Fragmentation& lost = *device.fragmentation;
  const std::int64_t all = lost.hard_bytes + lost.soft_bytes + lost.stream_bytes + lost.rounding_bytes;
  if (all <= 0) return {};
  return fmt::format(
      "{}, {} is in no tensor: {} beside live blocks, {} in free segments{}, {} in those of other streams and pools, "
      "{} "
      "by rounding.",
      device.has_history ? "When most is reserved" : "Of what is reserved", format_bytes(all),
      format_bytes(lost.hard_bytes), format_bytes(lost.soft_bytes),
      device.has_history ? " that are too small" : "",  // for what is asked then
      format_bytes(lost.stream_bytes), format_bytes(lost.rounding_bytes));
}

std::string pinning_sentence(const DeviceCauses& device) {
  constexpr std::size_t kMostNamed = 3;
  constexpr double kLeastOfReserved = 1, kLeastOfHard = 10;  // percent
  if (!device.fragmentation) return {};
  const Fragmentation& lost = *device.fragmentation;
  if (share_of(lost.hard_bytes, lost.totals.reserved) < kLeastOfReserved) return {};
  std::vector<std::string> makers;
  for (const PinningLine& line : lost.lines | std::views::take(kMostNamed))
    if (line.source && share_of(line.pinned_bytes, lost.hard_bytes) >= kLeastOfHard)
      makers.push_back(fmt::format("{} ({} of {} beside {} of free memory)", source_text(*line.source),
                                   counted(static_cast<double>(line.blocks), "block"), format_bytes(line.bytes),
                                   format_bytes(line.pinned_bytes)));
  return makers.empty() ? std::string()
                        : "Live blocks that keep free memory apart were made at " + listed(makers) + ".";
}

std::string leak_sentence(const MemoryReport& report, const MemoryLeak& leak) {
  const std::string rate = format_bytes(leak.bytes_per_step);
  const std::string_view when = leak.is_per_call ? "with every call of the model" : "in every step";
  std::string text;
  if (leak.process) {
    text = fmt::format("{} grows by {} {}", process_words(*leak.process), rate, when);
  } else {
    text = leak.source             ? source_text(*leak.source)
           : !leak.made_by.empty() ? printable(leak.made_by)
                                   : std::string("A line that was not recorded");
    text += fmt::format(" leaves {} behind {}", rate, when);
    if (leak.source && !leak.made_by.empty()) text += ", made by " + printable(leak.made_by);
  }
  text += fmt::format("; {} so far.", format_bytes(leak.bytes));
  if (leak.steps_to_full)
    text += fmt::format(" The {} memory is full after about {} at this rate.",
                        leak.device == kHost ? std::string("host's") : report.device_word + "'s",
                        counted(in_two_digits(*leak.steps_to_full), "more step"));
  return text;
}

std::vector<const MemoryLeak*> tensor_leaks(const MemoryReport& report) { return leaks_of(report, false); }

std::vector<const MemoryLeak*> process_leaks(const MemoryReport& report) { return leaks_of(report, true); }

std::string tensor_keepers_sentence(const DeviceCauses& device) {
  constexpr std::size_t kMostNamed = 3;
  std::vector<std::pair<std::string, std::size_t>> keepers;  // and how many tensors each keeps
  for (const PeakTensor& tensor : device.peak.tensors) {
    // The first link is the tensor itself.
    if (!tensor.kept_by || tensor.kept_by->size() < 2 || tensor.use == MemoryUse::kLeftBehind) continue;
    const std::string way = way_from_variable(std::span(*tensor.kept_by).subspan(1));
    const auto known = std::ranges::find(keepers, way, &std::pair<std::string, std::size_t>::first);
    if (known == keepers.end())
      keepers.emplace_back(way, 1);
    else
      ++known->second;
  }
  std::vector<std::string> parts;
  for (const auto& [way, tensors] : keepers | std::views::take(kMostNamed))
    parts.push_back(parts.empty() ? fmt::format("{} {} kept alive by {}", tensors, tensors == 1 ? "is" : "are", way)
                                  : fmt::format("{} by {}", tensors, way));
  return parts.empty() ? std::string() : fmt::format("Of the largest, {}.", listed(parts));
}

std::string keeper_sentence(const MemoryLeak& leak) {
  if (!leak.kept_by) return {};
  if (leak.kept_by->empty())
    return "What keeps it alive was looked for and not found: no variable of a module or of a function that was "
           "running leads to it in a few links.";
  return "Kept alive by " + way_from_variable(*leak.kept_by) + '.';
}

std::string certainty_sentence(const DeviceCauses& device) {
  std::int64_t noted = 0, all = 0;
  for (const UseBytes& use : device.peak.uses) {
    if (use.use == MemoryUse::kOutside) continue;
    noted += use.noted_bytes;
    all += use.bytes;
  }
  if (noted == 0)
    return "What memory is for follows from when and where it was made and freed; the program did not say.";
  return fmt::format(
      "Of {} the program itself said what they are; the rest follows from when and where it was made "
      "and freed.",
      format_percent(share_of(noted, all)));
}

std::string maker_text(const PeakTensor& tensor) {
  std::string text;
  for (const std::string& part :
       {tensor.name, tensor.made_by, tensor.module, tensor.source ? source_text(*tensor.source) : std::string()})
    if (!part.empty()) text.append(text.empty() ? "" : ", ").append(printable(part));
  return text.empty() ? "not known" : text;
}

std::string last_use_text(const PeakTensor& tensor) {
  constexpr std::string_view kEngine = "autograd::engine::evaluate_function: ";
  if (!tensor.freed) return "stays";
  if (tensor.freed_by.empty()) return "not known";
  std::string_view name = tensor.freed_by;
  if (name.starts_with(kEngine)) name.remove_prefix(kEngine.size());
  return printable(name);
}

std::vector<const DeviceCauses*> shown_devices(const MemoryReport& report) {
  constexpr std::int64_t kNothing = 1024 * 1024;
  std::vector<const DeviceCauses*> shown;
  for (const DeviceCauses& device : report.causes.devices) {
    const bool is_nothing = device.peak.device == kHost && device.peak.allocated < kNothing && !shown.empty();
    if (!is_nothing) shown.push_back(&device);
  }
  return shown;
}

bool knows_lines(const DeviceCauses& device) {
  return std::ranges::any_of(device.peak.lines, [](const LineBytes& line) { return line.source.has_value(); });
}

std::string line_text(const LineBytes& line) { return line.source ? source_text(*line.source) : "line not recorded"; }

}  // namespace telltale
