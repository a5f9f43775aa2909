#include "capture/cuda/attachment.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "capture/cuda/signals_blocked.h"

namespace telltale::capture {
namespace {

// CUPTI hands no pointer back with its buffers.
std::atomic<CuptiAttachment*> the_attachment = nullptr;

// What a process that is killed loses of its device's work.
constexpr std::chrono::milliseconds kReadEvery{200};
constexpr int kClockTries = 5;

struct Wanted {
  CUpti_ActivityKind kind;
  bool is_needed;  // else a recording without it is still worth having
};
constexpr std::array kActivities = std::to_array<Wanted>({
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, true},
    {CUPTI_ACTIVITY_KIND_MEMCPY, true},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, false},
    {CUPTI_ACTIVITY_KIND_MEMSET, true},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, false},
    {CUPTI_ACTIVITY_KIND_MEMORY_POOL, false},
});

constexpr std::array kGraphCallbacks = {CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
                                        CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING,
                                        CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING};

std::uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

// CUPTI 13.0 counts one record as dropped each time that it is attached, although all are there: so seen in recordings
// of 200,000 kernels, of which none was missing.
bool counts_one_too_many(const Cupti& cupti) { return cupti.version / 100 == 1300; }

// Before CUDA 12.6, to take CUPTI out of a process that uses CUDA graphs ends in a crash when it comes back, or sooner;
// PyTorch's profiler leaves it in there as well.
bool breaks_graphs_when_it_goes(const Cupti& cupti) { return cupti.version < 24; }

const char* words_for_calls(std::uint32_t calls) {
  switch (calls) {
    case TELLTALE_CUDA_CALLS_AS_CALLED:
      return "as called";
    case TELLTALE_CUDA_CALLS_ALL:
      return "all";
    default:
      return "chosen";
  }
}

}  // namespace

CuptiAttachment::CuptiAttachment(CudaDriver driver, Cupti cupti)
    : driver_(std::move(driver)),
      cupti_(std::move(cupti)),
      waits_(cupti_, tracks_),
      calls_(cupti_, correlations_, launches_, contexts_, waits_),
      decoder_(driver_, cupti_, correlations_, launches_, graphs_, tracks_),
      device_wait_(driver_, contexts_) {
  the_attachment.store(this);
}

// ---- Attaching ----

Outcome CuptiAttachment::record(const telltale_cuda_options& options) {
  graphs_.set_stacks(options.stacks);
  graphs_.begin_recording();
  launches_.begin_anew();
  waits_.begin_anew();
  if (!has_recorded_) {
    correlations_.begin_anew();
    decoder_.clock().begin_anew();
    uncounted_drops_ = counts_one_too_many(cupti_) ? 1 : 0;
    buffers_.begin();
  }
  if (options.continues == 0) {
    dropped_ = 0;
    decoder_.forget_losses();
  }
  buffers_.allow(std::size_t{options.buffer_mib} << 20);
  if (Outcome outcome = subscribe(); outcome.status != TELLTALE_STATUS_OK) return outcome;
  if (const CUptiResult result = enable_graphs(); result != CUPTI_SUCCESS) return failed("CUDA graphs", result);
  if (const CUptiResult result = enable_activities(); result != CUPTI_SUCCESS)
    return failed("the device's work", result);
  const auto calls = static_cast<telltale_cuda_calls>(options.calls);
  if (const CUptiResult result = calls_.enable(subscriber_, calls); result != CUPTI_SUCCESS)
    return failed("CUDA's calls", result);
  is_recording_ = has_recorded_ = true;
  read_clock();
  tell_facts(options);
  try {
    start_reader();
  } catch (const std::exception&) {
    detach();
    return {TELLTALE_STATUS_NO_MEMORY, "CUDA cannot be recorded: no thread could be started"};
  }
  return {};
}

Outcome CuptiAttachment::watch_graphs(const telltale_cuda_options& options) {
  graphs_.set_stacks(options.stacks);
  if (Outcome outcome = subscribe(); outcome.status != TELLTALE_STATUS_OK) return outcome;
  if (const CUptiResult result = enable_graphs(); result != CUPTI_SUCCESS) return failed("CUDA graphs", result);
  return {};
}

Outcome CuptiAttachment::subscribe() {
  if (is_subscribed_) return {};
  contexts_.forget_all();
  calls_.forget_captures();
  const CUptiResult result = cupti_.Subscribe(&subscriber_, &CuptiAttachment::on_callback, this);
  is_subscribed_ = result == CUPTI_SUCCESS;
  if (is_subscribed_) return {};
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED || result == CUPTI_ERROR_MAX_LIMIT_REACHED)
    return {TELLTALE_STATUS_CANNOT_OPEN, "another profiler uses CUPTI in this process, which allows one only"};
  return {TELLTALE_STATUS_CANNOT_OPEN, "CUPTI cannot be attached: " + words_for(cupti_, result)};
}

CUptiResult CuptiAttachment::enable_graphs() {
  for (const CUpti_CallbackId id : kGraphCallbacks)
    if (const CUptiResult result = cupti_.EnableCallback(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE, id);
        result != CUPTI_SUCCESS)
      return result;
  return calls_.enable_captures(subscriber_);
}

CUptiResult CuptiAttachment::enable_activities() {
  if (const CUptiResult result = cupti_.ActivityRegisterCallbacks(&CuptiAttachment::on_buffer_requested,
                                                                  &CuptiAttachment::on_buffer_completed);
      result != CUPTI_SUCCESS)
    return result;
  for (const Wanted& wanted : kActivities) {
    const CUptiResult result = cupti_.ActivityEnable(wanted.kind);
    if (result != CUPTI_SUCCESS && wanted.is_needed) return result;
  }
  return CUPTI_SUCCESS;
}

Outcome CuptiAttachment::failed(const char* what, CUptiResult result) {
  detach();
  std::string words = std::string("CUPTI does not tell of ") + what + ": " + words_for(cupti_, result);
  if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES || result == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES)
    words += "; the administrator of this machine must allow profiling";
  return {TELLTALE_STATUS_CANNOT_OPEN, std::move(words)};
}

// ---- Detaching ----

Detached CuptiAttachment::detach() {
  if (!is_subscribed_) return Detached::kGone;  // what others do with CUPTI is not ours to end
  calls_.end();
  if (is_recording_) {
    wait_for_device();
    stop_reader();
    cupti_.ActivityFlushAll(0);
    read_clock();
    decode_full_buffers();
  }
  for (const Wanted& wanted : kActivities) cupti_.ActivityDisable(wanted.kind);
  // Other threads have launched work meanwhile: a buffer comes back whole only when that has ended as well.
  const bool is_idle = wait_for_device();
  if (is_recording_) {
    cupti_.ActivityFlushAll(0);
    cupti_.ActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    decode_full_buffers();  // while the names that records point to are there
  }
  // CUPTI must not be taken away from under work that it follows, nor under a capture that has begun meanwhile.
  const bool can_go = is_idle && !calls_.is_capturing();
  const Detached result = !can_go ? Detached::kUntilIdle : must_stay() ? Detached::kForGood : Detached::kGone;
  if (can_go) {
    let_go(/*and_end_it=*/result == Detached::kGone);
  } else {
    calls_.disable(subscriber_);
    enable_graphs();  // before CUDA 12.6 Update 1, what else was on may have gone with that
  }
  if (is_recording_) {
    decode_full_buffers();
    tell_quality();
  }
  if (can_go) buffers_.end();
  is_recording_ = false;
  return result;
}

bool CuptiAttachment::must_stay() const { return breaks_graphs_when_it_goes(cupti_) && graphs_.have_been_used(); }

void CuptiAttachment::let_go(bool and_end_it) {
  cupti_.Unsubscribe(subscriber_);  // others may use it now
  is_subscribed_ = has_recorded_ = false;
  // Without it, every launch of the process stays slower for good.
  if (and_end_it) cupti_.Finalize();
}

bool CuptiAttachment::wait_for_device() {
  return !calls_.is_capturing() && device_wait_.ends();  // waiting would break the capture
}

void CuptiAttachment::leave_to_parent() {
  CuptiAttachment* const attachment = the_attachment.load();
  if (attachment == nullptr) return;
  attachment->is_parents_.store(true, std::memory_order_relaxed);
  attachment->calls_.end();
}

// ---- What CUPTI calls ----

void CuptiAttachment::on_callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  auto& attachment = *static_cast<CuptiAttachment*>(self);
  if (domain == CUPTI_CB_DOMAIN_RESOURCE)
    attachment.on_resource(id, *static_cast<const CUpti_ResourceData*>(data));
  else
    attachment.calls_.on_call(domain, id, *static_cast<const CUpti_CallbackData*>(data));
}

void CuptiAttachment::on_resource(CUpti_CallbackId id, const CUpti_ResourceData& resource) {
  if (is_parents_.load(std::memory_order_relaxed)) return;
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) return contexts_.remove(resource.context);
  const auto& made = *static_cast<const CUpti_GraphData*>(resource.resourceDescriptor);
  std::uint32_t graph = 0;
  std::uint64_t node = 0, original = 0;
  if (cupti_.GetGraphNodeId(made.node, &node) != CUPTI_SUCCESS) return;
  if (made.graph != nullptr) cupti_.GetGraphId(made.graph, &graph);
  try {
    if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING)
      graphs_.destroyed(node);
    else if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED)
      graphs_.created(graph, node, is_recording_ && !calls_.clones_graph());
    else if (cupti_.GetGraphNodeId(made.originalNode, &original) == CUPTI_SUCCESS)
      graphs_.cloned(graph, node, original);
  } catch (const std::exception&) {
    // No memory: the node has no origin.
  }
}

void CuptiAttachment::on_buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  CuptiAttachment& attachment = *the_attachment.load();
  *buffer = attachment.is_parents_.load(std::memory_order_relaxed) ? nullptr : attachment.buffers_.hand_out();
  *bytes = *buffer != nullptr ? ActivityBuffers::kBytes : 0;
  *most_records = 0;
}

void CuptiAttachment::on_buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                                          std::size_t valid_bytes) {
  CuptiAttachment& attachment = *the_attachment.load();
  if (buffer == nullptr || attachment.is_parents_.load(std::memory_order_relaxed)) return;
  attachment.buffers_.take_back({buffer, valid_bytes, context, stream});
}

// ---- Reading ----

void CuptiAttachment::start_reader() {
  reader_stops_ = false;
  const SignalsBlocked blocked;
  reader_ = std::thread([this] { read_until_stopped(); });
}

void CuptiAttachment::stop_reader() {
  {
    const std::lock_guard held(reader_mutex_);
    reader_stops_ = true;
  }
  reader_wakes_.notify_all();
  if (reader_.joinable()) reader_.join();
}

void CuptiAttachment::read_until_stopped() {
  pthread_setname_np(pthread_self(), "telltale-cuda");
  ApiCalls::leave_this_thread_out();
  std::unique_lock held(reader_mutex_);
  while (!reader_wakes_.wait_for(held, kReadEvery, [&] { return reader_stops_; })) {
    held.unlock();
    cupti_.ActivityFlushAll(0);
    read_clock();
    decode_full_buffers();
    if (const Losses now = losses(); now != told_losses_) tell_losses(now);
    held.lock();
  }
}

void CuptiAttachment::read_clock() {
  std::optional<ClockReading> best;
  for (int i = 0; i < kClockTries; ++i) {
    ClockReading reading;
    const std::uint64_t before = telltale_now();
    if (cupti_.GetTimestamp(&reading.device_ns) != CUPTI_SUCCESS) continue;
    const std::uint64_t after = telltale_now();
    reading.host_ns = monotonic_ns();
    reading.window_ticks = after - before;
    reading.ticks = before + reading.window_ticks / 2;
    if (!best || reading.window_ticks < best->window_ticks) best = reading;
  }
  if (best) decoder_.clock().add(*best);
}

void CuptiAttachment::decode_full_buffers() {
  for (const FullBuffer& buffer : buffers_.full()) {
    CUpti_Activity* record = nullptr;
    while (cupti_.ActivityGetNextRecord(buffer.data, buffer.valid_bytes, &record) == CUPTI_SUCCESS) {
      try {
        decoder_.decode(*record);
      } catch (const std::exception&) {
        ++dropped_;  // no memory for its name
      }
    }
    std::size_t dropped = 0;
    auto* context = static_cast<CUcontext>(buffer.context);
    if (cupti_.ActivityGetNumDroppedRecords(context, buffer.stream, &dropped) == CUPTI_SUCCESS) count_dropped(dropped);
    buffers_.reuse(buffer);
  }
}

void CuptiAttachment::count_dropped(std::uint64_t dropped) {
  const std::uint64_t not_lost = std::min(dropped, uncounted_drops_);
  uncounted_drops_ -= not_lost;
  dropped_ += dropped - not_lost;
}

// ---- What the recording says of itself ----

void CuptiAttachment::tell_facts(const telltale_cuda_options& options) {
  telltale_metadata("cuda_driver_version", std::to_string(driver_.version).c_str());
  telltale_metadata("cupti_version", std::to_string(cupti_.version).c_str());
  telltale_metadata("cuda_calls", words_for_calls(options.calls));
  telltale_metadata("cuda_read_ns", std::to_string(std::chrono::nanoseconds(kReadEvery).count()).c_str());
  tell_losses(losses());
}

void CuptiAttachment::tell_quality() {
  const DeviceClock::Quality quality = decoder_.clock().quality();
  char json[256];
  std::snprintf(json, sizeof json, R"({"samples": %llu, "drift_ppm": %.3f, "residual_ns": %lld, "shifted_ns": %lld})",
                static_cast<unsigned long long>(quality.readings), quality.drift_ppm,
                static_cast<long long>(quality.residual_ns), static_cast<long long>(quality.shifted_ns));
  telltale_metadata("device_clock", json);
  tell_losses(losses());
}

CuptiAttachment::Losses CuptiAttachment::losses() const {
  return {.dropped = dropped_,
          .unfinished = decoder_.unfinished(),
          .unplaced = decoder_.unplaced(),
          .graph_nodes = graphs_.left_out()};
}

void CuptiAttachment::tell_losses(const Losses& now) {
  char json[128];
  std::snprintf(json, sizeof json, R"({"unfinished": %llu, "unplaced": %llu, "graph_nodes": %llu})",
                static_cast<unsigned long long>(now.unfinished), static_cast<unsigned long long>(now.unplaced),
                static_cast<unsigned long long>(now.graph_nodes));
  telltale_metadata("lost_device_records", json);
  telltale_metadata("cupti_dropped_records", std::to_string(now.dropped).c_str());
  told_losses_ = now;
}

}  // namespace telltale::capture
