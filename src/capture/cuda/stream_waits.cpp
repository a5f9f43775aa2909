#include "capture/cuda/stream_waits.h"

#include <array>
#include <exception>
#include <string_view>

namespace telltale::capture {
namespace {

constexpr telltale_field kFields[] = {{"context", TELLTALE_FIELD_TYPE_INTEGER, 0},
                                      {"cuda_sync_kind", TELLTALE_FIELD_TYPE_NAME, 0},
                                      {"wait_on_stream", TELLTALE_FIELD_TYPE_INTEGER, 0},
                                      {"wait_on_cuda_event_id", TELLTALE_FIELD_TYPE_INTEGER, 0}};

constexpr telltale_site site_called(const char* name) {
  return {name, "", "", "", kFields, static_cast<std::uint32_t>(std::size(kFields)), 0, TELLTALE_KIND_SYNC, 0};
}
telltale_site event_sync = site_called("Event Sync"), stream_wait_event = site_called("Stream Wait Event"),
              stream_sync = site_called("Stream Sync"), context_sync = site_called("Context Sync");

// What CUDA's functions are called with, in the driver and in the runtime alike: the beginning of CUPTI's structs.
struct OneStream {
  CUstream stream;
};
struct OneEvent {
  CUevent event;
};
struct EventAndStream {
  CUevent event;
  CUstream stream;
};
struct StreamAndEvent {
  CUstream stream;
  CUevent event;
};

template <typename Parameters>
const Parameters& parameters(const SeenCall& call) {
  return *static_cast<const Parameters*>(call.data->functionParams);
}

// Numbers of events that a program throws away are never needed again; one that makes new ones for ever is not
// followed.
constexpr std::size_t kMostEvents = 1 << 16;

}  // namespace

void StreamWaits::begin_anew() {
  const std::lock_guard held(mutex_);
  events_.clear();
}

std::int64_t StreamWaits::stream_of(const SeenCall& call, CUstream stream) const {
  std::uint32_t number = 0;
  const CUptiResult result = cupti_.GetStreamIdEx(call.data->context, stream, call.is_per_thread ? 1 : 0, &number);
  return result == CUPTI_SUCCESS ? std::int64_t{number} : -1;
}

StreamWaits::Event& StreamWaits::event_of(CUevent handle) {
  if (events_.size() >= kMostEvents && !events_.contains(handle)) events_.clear();
  Event& event = events_[handle];
  if (event.number == 0) event.number = ++newest_event_;
  return event;
}

void StreamWaits::on_call(const SeenCall& call) {
  if (call.data->functionParams == nullptr && call.role != CallRole::kWaitForDevice) return;
  try {
    const std::lock_guard held(mutex_);
    switch (call.role) {
      case CallRole::kRecordEvent: {
        const auto& [event, stream] = parameters<EventAndStream>(call);
        event_of(event).stream = stream_of(call, stream);
        return;
      }
      case CallRole::kWaitForEvent: {
        const Event event = event_of(parameters<OneEvent>(call).event);
        return tell(call, event_sync, -1, event.stream, event.number);
      }
      case CallRole::kStreamWaits: {
        const auto& [stream, handle] = parameters<StreamAndEvent>(call);
        const Event event = event_of(handle);
        return tell(call, stream_wait_event, stream_of(call, stream), event.stream, event.number);
      }
      case CallRole::kWaitForStream: {
        const std::int64_t stream = stream_of(call, parameters<OneStream>(call).stream);
        return tell(call, stream_sync, stream, stream, -1);
      }
      case CallRole::kWaitForDevice:
        return tell(call, context_sync, -1, -1, -1);
      default:
        return;
    }
  } catch (const std::exception&) {
    // No memory: the wait is known by its call alone.
  }
}

void StreamWaits::tell(const SeenCall& call, telltale_site& kind, std::int64_t waits, std::int64_t waited_for,
                       std::int64_t event) {
  std::array<telltale_value, std::size(kFields)> values{};
  values[0].integer = call.data->contextUid;
  values[1].integer = telltale_intern(kind.name);
  values[2].integer = waited_for;
  values[3].integer = event;
  std::uint32_t device = 0;
  if (cupti_.GetDeviceId(call.data->context, &device) != CUPTI_SUCCESS) return;
  const std::uint32_t stream = waits < 0 ? StreamTracks::kNoStream : static_cast<std::uint32_t>(waits);
  telltale_span_at(tracks_.of(device, stream), &kind, call.start, call.end, call.correlation, values.data());
}

}  // namespace telltale::capture
