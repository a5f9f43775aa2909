// What waits for which stream, where the recorder says so: newer profilers write a synchronization with the stream it
// waits for. Where nothing is said, the graph's builder goes by when things ended.
#pragma once

#include <optional>
#include <unordered_map>

#include "trace/trace.h"

namespace telltale {

class RecordedWaits {
 public:
  struct StreamWait {
    TrackId waiting, awaited;
  };

  explicit RecordedWaits(const Trace& trace);

  // Of a call that makes a stream wait for what another has been given (cudaStreamWaitEvent); else null.
  const StreamWait* stream_wait_of(EventId call) const;
  // The only stream that the host waits for in the call, where that is known.
  std::optional<TrackId> stream_awaited_by(EventId call) const;

 private:
  std::unordered_map<EventId, StreamWait> stream_waits_;
  std::unordered_map<EventId, TrackId> host_waits_;
};

}  // namespace telltale
