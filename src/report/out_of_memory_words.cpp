#include "report/out_of_memory_words.h"

#include <fmt/format.h>

#include <cstdint>

#include "analysis/memory_map.h"
#include "analysis/source_line.h"
#include "base/amounts.h"
#include "memory/stack_words.h"

namespace telltale {
namespace {

std::string place_of(DeviceId device) { return device == kHost ? "on the host" : fmt::format("on GPU {}", device); }

constexpr std::size_t kMostUses = 3;

// " at model.py:12 in Block_3"; less where less is known.
std::string asking_place(const Trace& trace, const AllocatorEvent& entry) {
  std::optional<SourceLine> source;
  if (entry.call_stack != kEmptyString) source = line_of_stack(trace.strings[entry.call_stack]);
  if (!source && entry.event != kNoEvent) source = source_line(trace, entry.event);
  std::string_view module = entry.event == kNoEvent ? std::string_view() : module_around(trace, entry.event);
  constexpr std::string_view kPrefix = "nn.Module: ";
  if (module.starts_with(kPrefix)) module.remove_prefix(kPrefix.size());
  std::string text;
  if (source) text += " at " + short_place(*source);
  if (!module.empty()) text += fmt::format(" in {}", module);
  if (text.empty() && entry.event != kNoEvent) text = fmt::format(" by {}", trace.name(entry.event));
  return text;
}

std::string held_words(const DeviceCauses& device) {
  std::vector<std::string> uses;
  for (const UseBytes& use : device.peak.uses)
    if (use.use != MemoryUse::kOutside && uses.size() < kMostUses)
      uses.push_back(fmt::format("{} {}", format_bytes(use.bytes), words_for(use.use)));
  std::string text = fmt::format("at most, tensors took {}", format_bytes(device.peak.allocated));
  if (!uses.empty()) text += fmt::format(": {}", listed(uses));
  return text;
}

}  // namespace

std::string verdict_words(const TriedFixes& tried) {
  const MemoryWhatIf& what_if = tried.what_if;
  const std::string room = format_bytes(*what_if.capacity);
  const std::string peak = format_bytes(what_if.high.peak_reserved.value_or(what_if.high.peak_allocated));
  switch (what_if.verdict()) {
    case MemoryWhatIf::Verdict::kFits:
      return fmt::format("with {}, it gets past that request: {} of {}", tried.words, peak, room);
    case MemoryWhatIf::Verdict::kMayFit:
      return fmt::format("with {}, it may get past that request: up to {} of {}", tried.words, peak, room);
    case MemoryWhatIf::Verdict::kFails:
      break;
  }
  return fmt::format("{} would not be enough", tried.words);
}

std::vector<std::string> out_of_memory_diagnosis(const MemoryReport& report, const std::optional<TriedFixes>& tried) {
  std::vector<std::string> lines;
  if (const DeviceCauses* const device = fullest(report.causes)) lines.push_back(held_words(*device));
  std::size_t number = 0;
  for (const Finding& finding : report.findings) {
    if (finding.saving_bytes <= 0 || number == kMostNamedFindings) continue;
    lines.push_back(fmt::format("{}. {}: saves {}{}", ++number, finding.title, format_bytes(finding.saving_bytes),
                                finding.source ? ", " + short_place(*finding.source) : ""));
  }
  if (number > 0 && tried && tried->what_if.capacity) lines.push_back(verdict_words(*tried));
  return lines;
}

std::string out_of_memory_text(const Trace& trace) {
  const AllocatorEvent* last = nullptr;
  std::uint64_t times = 0;
  for (const AllocatorEvent& entry : trace.allocator_events) {
    if (entry.action != AllocatorAction::kOutOfMemory) continue;
    last = &entry;
    ++times;
  }
  if (last != nullptr) {
    std::string text = fmt::format("memory ran out {}", place_of(last->device));
    if (times > 1) text += fmt::format(" for the last of {} times", times);
    text += fmt::format(": {} were asked for{}", format_bytes(last->bytes), asking_place(trace, *last));
    if (last->device != kHost) text += fmt::format(", and the device had {} free", format_bytes(last->address));
    return text;
  }
  const std::string* const error = trace.metadata_named("out_of_memory");
  if (error == nullptr) return {};
  const bool is_on_device = error->find(R"("where":"device")") != std::string::npos;
  return is_on_device ? "memory ran out on the GPU" : "memory ran out on the host";
}

}  // namespace telltale
