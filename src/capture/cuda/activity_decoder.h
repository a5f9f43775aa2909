// Turns CUPTI's records of device work into spans of the recording.
//
// Records come in no order that could be relied on, late, and from all streams together; each is complete in itself,
// but for the stream that an event was recorded on, which its own record tells.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/cuda/correlations.h"
#include "capture/cuda/cupti_library.h"
#include "capture/cuda/device_clock.h"
#include "capture/cuda/device_facts.h"
#include "capture/cuda/graph_nodes.h"
#include "capture/cuda/launch_times.h"
#include "capture/cuda/stream_tracks.h"
#include "telltale/telltale.h"

namespace telltale::capture {

class ActivityDecoder {
 public:
  ActivityDecoder(const CudaDriver& driver, const Cupti& cupti, Correlations& correlations, const LaunchTimes& launches,
                  GraphNodes& graphs, StreamTracks& tracks)
      : driver_(driver),
        cupti_(cupti),
        correlations_(correlations),
        launches_(launches),
        graphs_(graphs),
        tracks_(tracks) {}

  void decode(const CUpti_Activity& record);

  // A new file begins.
  void forget_losses() {
    unfinished_ = unplaced_ = 0;
    clock_.forget_quality();
  }

  DeviceClock& clock() { return clock_; }
  // Records that are left out: of work that had not ended, and of work whose times the clock could not place.
  std::uint64_t unfinished() const { return unfinished_; }
  std::uint64_t unplaced() const { return unplaced_; }

 private:
  struct Span {
    std::uint64_t start = 0, end = 0;  // ticks
  };
  struct KernelSites {  // null until such a kernel has come
    telltale_site* plain = nullptr;
    telltale_site* in_graph = nullptr;
  };

  void decode_kernel(const CUpti_ActivityKernel9& kernel);
  void decode_overhead(const CUpti_ActivityOverhead& overhead);
  void decode_pool(const CUpti_ActivityMemoryPool2& pool);
  template <typename Record>
  void decode_transfer(const Record& record, std::string name, telltale_kind kind);

  // When the work began and ended; false, and counted, when nobody knows, and false for work of a warm-up.
  bool span_of(std::uint64_t start_ns, std::uint64_t end_ns, std::uint64_t correlation, Span& span);
  telltale_site* site_of_kernel(const char* name, bool is_in_graph);
  telltale_site* site_named(const std::string& name, telltale_kind kind, bool is_in_graph);
  const MultiprocessorLimits& limits_of(std::uint32_t device);

  const CudaDriver& driver_;
  const Cupti& cupti_;
  Correlations& correlations_;
  const LaunchTimes& launches_;
  GraphNodes& graphs_;
  StreamTracks& tracks_;
  DeviceClock clock_;
  std::vector<DeviceFacts> devices_;
  std::unordered_map<std::string, KernelSites> kernels_;  // by the name that CUPTI gives
  std::unordered_map<std::string, telltale_site*> sites_;
  std::uint64_t unfinished_ = 0, unplaced_ = 0;
};

}  // namespace telltale::capture
