#include "answers/held_memory.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ranges>

#include "answers/out_of_memory.h"
#include "answers/page_file.h"
#include "formats/collapsed/frame_text.h"
#include "report/json.h"
#include "report/memory_html.h"
#include "report/memory_markdown.h"
#include "report/memory_terminal.h"
#include "report/memory_words.h"
#include "report/out_of_memory_words.h"

namespace telltale::answers {

std::string no_memory_words(const Trace& trace) {
  if (trace.anomalies.count(Anomaly::kTruncated) > 0)
    return "it is cut off, and ends before its memory events: was the disk full, or the program ended while it wrote?";
  return "it has no memory events: record with telltale record --memory, with profile_memory=True in torch.profiler, "
         "or take a snapshot after torch.cuda.memory._record_memory_history()";
}

std::string HeldMemoryAnswer::json() const { return to_json(report, *trace); }

std::string HeldMemoryAnswer::markdown() const { return memory_markdown(report, *trace); }

std::vector<std::vector<MappedSegment>> HeldMemoryAnswer::segments() const {
  std::vector<std::vector<MappedSegment>> segments;
  for (const DeviceCauses& device : report.causes.devices)
    segments.push_back(segment_map(*trace, device.peak.device, device.peak.time, device.at_peak));
  return segments;
}

StandingStacks HeldMemoryAnswer::stacks(const FlameOptions& options) const {
  const std::vector<const DeviceCauses*> shown = shown_devices(report);
  std::vector<StandingBlocks> devices;
  for (const DeviceCauses* const device : shown)
    devices.push_back(
        {shown.size() > 1 ? device_label(report, *device) : std::string(), device->peak.allocated, device->at_peak});
  return standing_stacks(*trace, devices, options);
}

std::string HeldMemoryAnswer::collapsed() const {
  const StandingStacks found = stacks({.weight = FlameWeight::kBytes, .most_nodes = SIZE_MAX});
  const std::vector<FlameNode>& nodes = found.tree.nodes;
  std::vector<std::int64_t> own;
  for (const FlameNode& node : nodes) own.push_back(node.value);
  for (const FlameNode& node : nodes)
    if (node.parent != FlameNode::kNoParent) own[static_cast<std::size_t>(node.parent)] -= node.value;
  std::string text;
  std::vector<std::string> frames;  // innermost first
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (own[i] == 0) continue;
    frames.clear();
    for (const FlameNode* at = &nodes[i];; at = &nodes[static_cast<std::size_t>(at->parent)]) {
      frames.push_back(collapsed::frame_text(found.names[at->name]));
      if (at->parent == FlameNode::kNoParent) break;
    }
    text += fmt::format("{} {}\n", fmt::join(frames | std::views::reverse, ";"), own[i]);
  }
  return text;
}

std::string HeldMemoryAnswer::html() const { return memory_html(report, segments(), *trace); }

std::string HeldMemoryAnswer::terminal(const TextStyle& style) const { return memory_text(report, style); }

Result<HeldMemoryAnswer> held_memory(const HeldMemoryRequest& request) {
  const bool has_page = !request.page.empty();
  if (has_page) {
    if (const auto good = check_page(request.page, request.source.path, request.spelling); !good)
      return std::unexpected(good.error());
  }
  const auto source = load(request.source);
  if (!source) return std::unexpected(source.error());
  if (!has_memory(*source->trace)) return failure(no_memory_words(*source->trace), source->path);
  source->tell("Analyzing");
  const bool ran_out = !out_of_memory_text(*source->trace).empty();
  HeldMemoryAnswer answer{memory_report(*source->trace, {}, ran_out), source->trace};
  answer.report.path = source->path;
  const std::vector<std::string> urgent = out_of_memory_remarks(*source->trace, answer.report);
  answer.report.remarks.insert(answer.report.remarks.begin(), urgent.begin(), urgent.end());
  answer.report.urgent_remarks = urgent.size();
  if (has_page) {
    if (const auto written = write_page(request.page, answer.html()); !written) return std::unexpected(written.error());
  }
  return answer;
}

}  // namespace telltale::answers
