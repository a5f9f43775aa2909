#include "formats/tell/device_records.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "trace/device_clock.h"
#include "trace/recording_facts.h"

namespace telltale::tell {
namespace {

struct NamedLoss {
  const char* name;
  Anomaly anomaly;
};
constexpr std::array kLosses = {NamedLoss{"unfinished", Anomaly::kUnfinishedDeviceWork},
                                NamedLoss{"unplaced", Anomaly::kUnplacedDeviceWork},
                                NamedLoss{"graph_nodes", Anomaly::kUnnotedGraphNode}};

// What src/capture/cuda tells.
constexpr std::array<std::string_view, 7> kToldOfCuda = {
    "cuda_driver_version",   "cupti_version",       "cuda_calls",  "cuda_read_ns",
    "cupti_dropped_records", "lost_device_records", "device_clock"};

void note_losses(std::string_view json, Anomalies& anomalies) {
  const auto losses = nlohmann::json::parse(json, nullptr, false);
  if (!losses.is_object()) return;
  for (const NamedLoss& loss : kLosses)
    if (const auto count = losses.find(loss.name); count != losses.end() && count->is_number_unsigned())
      if (const auto times = count->get<std::uint64_t>(); times > 0) anomalies.add_many(loss.anomaly, times, 0, {});
}

}  // namespace

void forget_earlier_devices(Trace& trace) {
  // Starting and stopping CUPTI are overhead.
  const auto is_of_cuda = [](Kind kind) {
    return is_api_call(kind) || is_device_work(kind) || kind == Kind::kOverhead;
  };
  if (std::ranges::any_of(trace.events.kind, is_of_cuda)) return;
  std::erase_if(trace.metadata,
                [](const auto& pair) { return std::ranges::find(kToldOfCuda, pair.first) != kToldOfCuda.end(); });
}

void note_quality_of_device_records(Trace& trace) {
  const std::string* const dropped = trace.metadata_named("cupti_dropped_records");
  if (const auto count = dropped == nullptr ? std::nullopt : integer_in(*dropped); count && *count > 0)
    trace.anomalies.add_many(Anomaly::kDroppedDeviceRecords, static_cast<std::uint64_t>(*count), 0, {});
  if (const std::string* const losses = trace.metadata_named("lost_device_records"))
    note_losses(*losses, trace.anomalies);

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
