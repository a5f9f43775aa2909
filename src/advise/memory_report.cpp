#include "advise/memory_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "advise/memory_rule.h"
#include "advise/rule_info.h"
#include "base/amounts.h"

namespace telltale {
namespace {

std::string name_of_device(const Trace& trace, DeviceId id) {
  if (id == kHost) return {};
  const auto device =
      trace.devices.size() == 1 ? trace.devices.begin() : std::ranges::find(trace.devices, id, &Device::id);
  return device == trace.devices.end() ? std::string() : device->name;
}

}  // namespace

std::vector<std::string> rules_about_memory() {
  std::vector<std::string> ids;
  for (const RuleInfo& rule : rule_infos())
    if (rule.is_about_memory) ids.push_back(rule.id);
  for (const RuleInfo& rule : memory_rule_infos()) ids.push_back(rule.id);
  return ids;
}

bool has_memory(const Trace& trace) { return trace.memory.size() > 0 || !trace.memory_segments.empty(); }

MemoryReport memory_report(const Trace& trace, const std::optional<StepRange>& steps, bool keeps_edits) {
  DiagnosisOptions options;
  options.steps = steps;
  options.rules = rules_about_memory();
  options.wants_memory = true;
  options.keeps_memory_edits = keeps_edits;
  Diagnosis diagnosis = diagnose(trace, options);
  MemoryReport report;
  report.device_word = std::move(diagnosis.device_word);
  report.causes = *diagnosis.memory_causes;
  if (diagnosis.timing.source != StepSource::kWhole)
    report.steps = all_steps(diagnosis.timing).size();
  else
    report.steps = report.causes.inferred_steps;
  for (const DeviceCauses& device : report.causes.devices)
    report.device_names.push_back(name_of_device(trace, device.peak.device));
  report.findings = std::move(diagnosis.findings);
  report.remarks = std::move(diagnosis.remarks);
  if (trace.metadata_named("allocator_log_is_cut") != nullptr)
    report.remarks.emplace_back(
        "The log begins in the middle of the program: its ring has forgotten what was before, where the peak may have "
        "been higher. Give _record_memory_history() more max_entries.");
  const bool is_cut = trace.format != "tell" && trace.anomalies.count(Anomaly::kTruncated) > 0;
  const bool has_history = std::ranges::all_of(report.causes.devices, std::identity{}, &DeviceCauses::has_history);
  if (is_cut && !has_history)
    report.remarks.emplace_back(
        "The file is cut off, and with its end the log is lost, if it had one: it says what was there when the "
        "snapshot was taken, as far as the file goes. Was the disk full, or the program ended while it wrote?");
  else if (is_cut)
    report.remarks.emplace_back(
        "The file is cut off: what stands behind the cut is not counted. Was the disk full, or the program ended while "
        "it wrote?");
  else if (!has_history)
    report.remarks.emplace_back(
        "The snapshot has no history: it says what was there when it was taken, and neither when memory was fullest "
        "nor what grows. Call torch.cuda.memory._record_memory_history() at the start of the program for that.");
  if (report.causes.inferred_steps > 0)
    report.remarks.push_back(
        fmt::format("The file marks no steps. {} inferred from the lines that allocate, which repeat themselves.",
                    counted(static_cast<double>(report.causes.inferred_steps), "step was", "steps were")));
  if (diagnosis.timing.source == StepSource::kPattern && !report.causes.leaks.empty())
    report.remarks.emplace_back(
        "The file marks no steps: what repeats in it stands for them. In a worker of a loader that is a batch, or each "
        "of its samples.");
  return report;
}

}  // namespace telltale
