// Who waits for which stream: the waits of a recording, made of the calls that cause them.
//
// CUPTI has records of its own for this, but while they are on, every call of CUDA costs more: 4 µs for each kernel
// that PyTorch launches (H200, CUDA 13.0), where the kernels' own records cost one.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "capture/cuda/chosen_calls.h"
#include "capture/cuda/cupti_library.h"
#include "capture/cuda/stream_tracks.h"
#include "telltale/telltale.h"

namespace telltale::capture {

struct SeenCall {
  CallRole role = CallRole::kOther;
  bool is_per_thread = false;  // its default stream is the thread's own
  const CUpti_CallbackData* data = nullptr;
  std::uint64_t start = 0, end = 0;  // ticks
  std::uint64_t correlation = 0;
};

class StreamWaits {
 public:
  StreamWaits(const Cupti& cupti, StreamTracks& tracks) : cupti_(cupti), tracks_(tracks) {}

  // CUPTI has been attached: events that were recorded before are not known.
  void begin_anew();

  // Of any thread, when a call has ended. Calls that are no waits, nor record an event, are left alone.
  void on_call(const SeenCall& call);

 private:
  struct Event {
    std::uint32_t number = 0;
    std::int64_t stream = -1;  // that it was last recorded on
  };

  std::int64_t stream_of(const SeenCall& call, CUstream stream) const;
  Event& event_of(CUevent handle);
  void tell(const SeenCall& call, telltale_site& kind, std::int64_t waits, std::int64_t waited_for, std::int64_t event);

  const Cupti& cupti_;
  StreamTracks& tracks_;
  std::mutex mutex_;
  std::unordered_map<CUevent, Event> events_;
  std::uint32_t newest_event_ = 0;
};

}  // namespace telltale::capture
