#include "report/memory_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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
    case MemoryUse::kOther:
      break;
  }
  return color_of(HostWork::kUnknown);
}

std::span<const MemoryUse> stacked_uses() {
  static constexpr MemoryUse kOrder[] = {MemoryUse::kBefore,     MemoryUse::kParameters,    MemoryUse::kOptimizerState,
                                         MemoryUse::kGradients,  MemoryUse::kCommunication, MemoryUse::kWorkspace,
                                         MemoryUse::kCudaGraphs, MemoryUse::kKvCache,       MemoryUse::kInputs,
                                         MemoryUse::kOther,      MemoryUse::kActivations,   MemoryUse::kTemporaries};
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
  if (device.peak.device == kHost) return "The host";
  const auto devices =
      std::ranges::count_if(report.causes.devices, [](const DeviceCauses& each) { return each.peak.device != kHost; });
  return devices == 1 ? "The " + report.device_word : fmt::format("{} {}", report.device_word, device.peak.device);
}

std::string peak_sentence(const MemoryReport& report, const DeviceCauses& device) {
  const MemoryPeak& peak = device.peak;
  std::string text =
      fmt::format("{} has {} allocated at most", device_label(report, device), format_bytes(peak.allocated));
  if (peak.capacity)
    text += fmt::format(" of its {} ({})", format_bytes(*peak.capacity),
                        format_percent(share_of(peak.allocated, *peak.capacity)));
  if (peak.reserved > 0) text += fmt::format("; PyTorch reserves up to {}", format_bytes(peak.reserved));
  return text + '.';
}

std::string peak_place_sentence(const DeviceCauses& device) {
  const MemoryPeak& peak = device.peak;
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
      "When most is reserved, {} of it is in no tensor: {} beside live blocks, {} in free segments that are too small, "
      "{} in those of other streams and pools, {} by rounding.",
      format_bytes(all), format_bytes(lost.hard_bytes), format_bytes(lost.soft_bytes), format_bytes(lost.stream_bytes),
      format_bytes(lost.rounding_bytes));
}

std::string leak_sentence(const MemoryReport& report, const MemoryLeak& leak) {
  std::string text = leak.source             ? source_text(*leak.source)
                     : !leak.made_by.empty() ? printable(leak.made_by)
                                             : std::string("A line that was not recorded");
  text += fmt::format(" leaves {} behind {}", format_bytes(leak.bytes_per_step),
                      leak.is_per_call ? "with every call of the model" : "in every step");
  if (leak.source && !leak.made_by.empty()) text += ", made by " + printable(leak.made_by);
  text += fmt::format("; {} so far.", format_bytes(leak.bytes));
  if (leak.steps_to_full)
    text += fmt::format(" The {} memory is full after about {} at this rate.",
                        leak.device == kHost ? std::string("host's") : report.device_word + "'s",
                        counted(in_two_digits(*leak.steps_to_full), "more step"));
  return text;
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
  if (tensor.freed_by.empty()) return "–";
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
