#include "recorded_contents.h"

#include <charconv>
#include <optional>
#include <string_view>

#include "formats/read_trace.h"
#include "require.h"

namespace telltale::fuzzing {
namespace {

// The value of the only field, which open scopes do not have.
std::optional<std::int64_t> id_of(const Trace& trace, EventId event) {
  constexpr std::string_view kBegin = "{\"id\":";
  const StringId* values = trace.other_arguments.find(event);
  if (values == nullptr) return std::nullopt;
  const std::string_view text = trace.strings[*values];
  std::int64_t id = 0;
  const char* const end = text.data() + text.size();
  if (!text.starts_with(kBegin) || std::from_chars(text.data() + kBegin.size(), end, id).ec != std::errc())
    return std::nullopt;
  return id;
}

}  // namespace

RecordedContents recorded_contents(const std::string& path) {
  const Result<Trace> trace = read_trace(path);
  require(trace.has_value(), "what was recorded can be read: " + (trace ? "" : to_string(trace.error())));
  RecordedContents found;
  found.contents.path = path;
  const auto note = [&](std::set<std::int64_t>& ids, std::int64_t id) {
    found.repeated += ids.insert(id).second ? 0 : 1;
  };
  for (EventId event = 0; event < trace->events.size(); ++event) {
    const std::string_view name = trace->name(event);
    const std::optional<std::int64_t> id = id_of(*trace, event);
    if (name == kMarkName) note(found.contents.marks, id.value_or(-1));
    if (name == kScopeName && id) note(found.contents.spans, *id);
    if (name == kScopeName && !id) ++found.contents.open_scopes;
  }
  for (const double value : trace->counters.value) note(found.contents.counts, static_cast<std::int64_t>(value));
  for (const Step& step : trace->steps) note(found.contents.steps, step.index);
  for (const auto& [key, value] : trace->metadata)
    if (key.starts_with("key")) found.contents.metadata[key] = value;
  found.dropped = trace->anomalies.count(Anomaly::kDroppedEvents);
  return found;
}

}  // namespace telltale::fuzzing
