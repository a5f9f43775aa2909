#include "formats/tell/device_records.h"

#include <fmt/format.h>

#include "trace/device_clock.h"
#include "trace/recording_facts.h"

namespace telltale::tell {

void note_quality_of_device_records(Trace& trace) {
  const std::string* const dropped = trace.metadata_named("cupti_dropped_records");
  if (const auto count = dropped == nullptr ? std::nullopt : integer_in(*dropped); count && *count > 0)
    trace.anomalies.add_many(Anomaly::kDroppedDeviceRecords, static_cast<std::uint64_t>(*count), 0, {});

  const std::optional<DeviceClock> clock = device_clock(trace);
  if (!clock) return;
  const Events& events = trace.events;
  for (EventId event = 0; event < events.size(); ++event) {
    const EventId launch = is_device_work(events.kind[event]) ? trace.launch_of(event) : kNoEvent;
    if (launch == kNoEvent || events.start[event] >= events.start[launch] - clock->residual_ns) continue;
    trace.anomalies.add(Anomaly::kWorkBeforeLaunch, 0, trace.name(event));
  }
}

}  // namespace telltale::tell
