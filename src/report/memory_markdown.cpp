#include "report/memory_markdown.h"

#include <fmt/format.h>

#include <ranges>

#include "base/amounts.h"
#include "report/analyze_markdown.h"
#include "report/analyze_words.h"
#include "report/memory_words.h"

namespace telltale {
namespace {

constexpr std::size_t kMostRows = 10;

std::string device_tables(const MemoryReport& report, const DeviceCauses& device) {
  std::string text = fmt::format("\n{} {}\n", markdown_escaped(peak_sentence(report, device)),
                                 markdown_escaped(peak_place_sentence(device)));
  const auto percent = [&](std::int64_t bytes) {
    const std::int64_t whole = device.peak.allocated;
    return percent_digits(whole <= 0 ? 0 : 100.0 * static_cast<double>(bytes) / static_cast<double>(whole));
  };
  const bool has_uses = !device.peak.uses.empty();
  if (has_uses)
    text +=
        fmt::format("\n| {} | bytes | % |\n|---|--:|--:|\n", device.has_history ? "at the peak" : "in the snapshot");
  for (const UseBytes& use : device.peak.uses)
    text += fmt::format("| {} | {} | {} |\n", words_for(use.use), format_bytes(use.bytes),
                        use.use == MemoryUse::kOutside ? "–" : percent(use.bytes));
  const bool has_lines = knows_lines(device);
  if (has_lines) text += "\n| made by line | bytes | % | mostly |\n|---|--:|--:|---|\n";
  for (const LineBytes& line : device.peak.lines | std::views::take(has_lines ? kMostRows : 0))
    text += fmt::format("| {} | {} | {} | {} |\n", markdown_escaped(line_text(line)), format_bytes(line.bytes),
                        percent(line.bytes), words_for(line.use));
  if (!device.peak.tensors.empty()) text += "\n| largest | bytes | for | last used by |\n|---|--:|---|---|\n";
  for (const PeakTensor& tensor : device.peak.tensors)
    text += fmt::format("| {} | {} | {} | {} |\n", markdown_escaped(maker_text(tensor)), format_bytes(tensor.bytes),
                        words_for(tensor.use), device.has_history ? markdown_escaped(last_use_text(tensor)) : "–");
  if (const std::string keepers = tensor_keepers_sentence(device); !keepers.empty())
    text += '\n' + markdown_escaped(keepers) + '\n';
  if (const std::string steps = steps_sentence(device); !steps.empty()) text += '\n' + steps + '\n';
  if (const std::string lost = fragmentation_sentence(device); !lost.empty()) text += '\n' + lost + '\n';
  if (const std::string pinned = pinning_sentence(device); !pinned.empty())
    text += '\n' + markdown_escaped(pinned) + '\n';
  return text + '\n' + certainty_sentence(device) + '\n';
}

std::string leaks_list(const MemoryReport& report, std::string_view title,
                       const std::vector<const MemoryLeak*>& leaks) {
  std::string text;
  for (const MemoryLeak* const leak : leaks | std::views::take(kMostRows)) {
    const std::string keeper = keeper_sentence(*leak);
    text += fmt::format("- {}{}\n", markdown_escaped(leak_sentence(report, *leak)),
                        keeper.empty() ? "" : ' ' + markdown_escaped(keeper));
  }
  return text.empty() ? text : fmt::format("\n{}:\n\n{}", title, text);
}

}  // namespace

std::string memory_markdown(const MemoryReport& report, const Trace& trace) {
  std::string text = fmt::format("### {}\n", markdown_escaped(memory_subject(report)));
  for (const std::string& remark : report.remarks | std::views::take(report.urgent_remarks))
    text += fmt::format("\n**{}**\n", markdown_escaped(remark));
  for (const DeviceCauses* const device : shown_devices(report)) text += device_tables(report, *device);
  text += leaks_list(report, "Grows from step to step", tensor_leaks(report));
  text += leaks_list(report, "Processes that grow", process_leaks(report));
  if (!report.findings.empty()) text += "\n| | finding | effect | where |\n|--:|---|---|---|\n";
  std::size_t number = 0;
  for (const Finding& finding : report.findings)
    text += fmt::format("| {} | {} | {} | {} |\n", ++number, markdown_escaped(finding.title),
                        finding.saving_bytes > 0 ? memory_saving_text(finding) : "–",
                        finding.source ? markdown_escaped(source_text(*finding.source)) : "");
  number = 0;
  for (const Finding& finding : report.findings) text += finding_markdown(finding, ++number, trace);
  for (const std::string& remark : report.remarks | std::views::drop(report.urgent_remarks))
    text += fmt::format("\nNote: {}\n", markdown_escaped(remark));
  return text;
}

}  // namespace telltale
