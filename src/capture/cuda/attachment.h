// CUPTI attached to this process: subscribed, recording, read by a thread of its own, and detached again so that
// nothing of it is left behind.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "capture/cuda/activity_buffers.h"
#include "capture/cuda/activity_decoder.h"
#include "capture/cuda/api_calls.h"
#include "capture/cuda/correlations.h"
#include "capture/cuda/cuda_capture.h"
#include "capture/cuda/cupti_library.h"
#include "capture/cuda/device_wait.h"
#include "capture/cuda/graph_nodes.h"
#include "capture/cuda/launch_times.h"
#include "capture/cuda/stream_tracks.h"
#include "capture/cuda/stream_waits.h"

namespace telltale::capture {

// What becomes of CUPTI when it is detached.
enum class Detached : std::uint8_t {
  kGone,
  kUntilIdle,  // it stays until a later detach() finds the device idle
  kForGood,    // this version cannot be taken out of this process; nobody is subscribed
};

// One in a process, never destroyed; called by one thread at a time.
class CuptiAttachment {
 public:
  CuptiAttachment(CudaDriver driver, Cupti cupti);
  CuptiAttachment(const CuptiAttachment&) = delete;
  CuptiAttachment& operator=(const CuptiAttachment&) = delete;

  // From nothing, or from watching graphs. Nothing is attached where it fails.
  Outcome record(const telltale_cuda_options& options);
  Outcome watch_graphs(const telltale_cuda_options& options);
  // All that was launched until now is in the recording when it returns, unless the device is busy for very long. Then,
  // or while a stream is captured, CUPTI cannot be taken out of the process: it tells of nothing any more but of graphs
  // that are captured.
  Detached detach();

  // In a child that was forked: what CUPTI still tells of is nobody's business. A lock that a thread of the parent held
  // is held for good.
  static void leave_to_parent();

 private:
  struct Losses {
    std::uint64_t dropped = 0, unfinished = 0, unplaced = 0, graph_nodes = 0;
    bool operator==(const Losses&) const = default;
  };

  static void on_callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data);
  static void on_buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records);
  static void on_buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes,
                                  std::size_t valid_bytes);

  Outcome subscribe();
  CUptiResult enable_graphs();
  CUptiResult enable_activities();
  Outcome failed(const char* what, CUptiResult result);
  [[gnu::noinline]] void on_resource(CUpti_CallbackId id, const CUpti_ResourceData& resource);

  void start_reader();
  void stop_reader();
  void read_until_stopped();
  void read_clock();
  void decode_full_buffers();
  void count_dropped(std::uint64_t dropped);
  bool wait_for_device();  // whether all of its work has ended
  bool must_stay() const;
  void let_go(bool and_end_it);
  void tell_facts(const telltale_cuda_options& options);
  void tell_quality();
  // Also while it goes on: of a process that is killed, the last that was told is what the file says.
  Losses losses() const;
  void tell_losses(const Losses& now);

  const CudaDriver driver_;
  const Cupti cupti_;
  Correlations correlations_;
  LaunchTimes launches_;
  Contexts contexts_;
  GraphNodes graphs_;
  StreamTracks tracks_;
  StreamWaits waits_;
  ApiCalls calls_;
  ActivityBuffers buffers_;
  ActivityDecoder decoder_;
  DeviceWait device_wait_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  bool is_subscribed_ = false;
  bool has_recorded_ = false;  // since CUPTI was attached
  std::atomic<bool> is_recording_ = false;
  std::atomic<bool> is_parents_ = false;  // in a child that was forked
  std::uint64_t dropped_ = 0;
  Losses told_losses_;
  std::uint64_t uncounted_drops_ = 0;

  std::mutex reader_mutex_;
  std::condition_variable reader_wakes_;
  bool reader_stops_ = false;
  std::thread reader_;
};

}  // namespace telltale::capture
