#include "answers/held_memory.h"

#include "answers/page_file.h"
#include "memory/segment_map.h"
#include "report/json.h"
#include "report/memory_html.h"
#include "report/memory_markdown.h"
#include "report/memory_terminal.h"

namespace telltale::answers {

std::string no_memory_words(const Trace& trace) {
  if (trace.anomalies.count(Anomaly::kTruncated) > 0)
    return "it is cut off, and ends before its memory events: was the disk full, or the program ended while it wrote?";
  return "it has no memory events: record with telltale record --memory, with profile_memory=True in torch.profiler, "
         "or take a snapshot after torch.cuda.memory._record_memory_history()";
}

std::string HeldMemoryAnswer::json() const { return to_json(report, *trace); }

std::string HeldMemoryAnswer::markdown() const { return memory_markdown(report, *trace); }

std::string HeldMemoryAnswer::html() const {
  std::vector<std::vector<MappedSegment>> segments;
  for (const DeviceCauses& device : report.causes.devices)
    segments.push_back(segment_map(*trace, device.peak.device, device.peak.time, device.at_peak));
  return memory_html(report, segments, *trace);
}

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
  HeldMemoryAnswer answer{memory_report(*source->trace), source->trace};
  answer.report.path = source->path;
  if (has_page) {
    if (const auto written = write_page(request.page, answer.html()); !written) return std::unexpected(written.error());
  }
  return answer;
}

}  // namespace telltale::answers
