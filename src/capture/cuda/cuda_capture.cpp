#include "capture/cuda/cuda_capture.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <type_traits>
#include <utility>

#include "capture/cuda/attachment.h"

namespace telltale::capture {
namespace {

const char* why_it_stays(Detached left) {
  if (left == Detached::kForGood)
    return "CUPTI stays in the process, which makes launches slower: before CUDA 12.6, taking it out of a program that "
           "uses CUDA graphs breaks the program";
  return "the GPU was still at work, or a CUDA graph was being captured, so that its last work may be missing: CUPTI "
         "stays in the process, which makes launches slower, until a later stop finds the GPU idle";
}

telltale_site start_site = {"CUPTI start", "", "", "", nullptr, 0, 0, TELLTALE_KIND_OVERHEAD, 0};
telltale_site stop_site = {"CUPTI stop", "", "", "", nullptr, 0, 0, TELLTALE_KIND_OVERHEAD, 0};

// A mutex that a forked child may ask for: where it is held by a thread of the parent, nobody would ever give it back.
class MutexOfProcess {
 public:
  bool is_held_by_parent() const {
    return users_.load(std::memory_order_acquire) > 0 && pid_.load(std::memory_order_relaxed) != getpid();
  }
  void lock() {
    pid_.store(getpid(), std::memory_order_relaxed);
    users_.fetch_add(1, std::memory_order_release);
    mutex_.lock();
  }
  void unlock() {
    mutex_.unlock();
    users_.fetch_sub(1, std::memory_order_release);
  }

 private:
  std::mutex mutex_;
  std::atomic<int> users_ = 0;  // that hold it or wait for it
  std::atomic<pid_t> pid_ = 0;  // of the process that they are in
};

// One for the process, and for good: CUPTI's threads may still be in it when the program ends.
class CudaCapture {
 public:
  Outcome start(const telltale_cuda_options& options) {
    if (is_in_forked_child()) return of_a_forked_child();
    const std::lock_guard held(mutex_);
    if (Outcome outcome = open(); outcome.status != TELLTALE_STATUS_OK) return outcome;
    if (is_recording_) return {TELLTALE_STATUS_ALREADY_STARTED, "CUDA is recorded already"};
    const telltale_scope scope = telltale_begin(&start_site);
    Outcome outcome = attachment_->record(options);
    telltale_end(&scope);
    is_recording_ = outcome.status == TELLTALE_STATUS_OK;
    return outcome;
  }

  Outcome stop() {
    if (is_in_forked_child()) return {TELLTALE_STATUS_NOT_STARTED, "CUDA is not recorded"};
    const std::lock_guard held(mutex_);
    if (attachment_ == nullptr) return {TELLTALE_STATUS_NOT_STARTED, "CUDA is not recorded"};
    if (!is_recording_) {
      attachment_->detach();  // it may watch graphs
      return {TELLTALE_STATUS_NOT_STARTED, "CUDA is not recorded"};
    }
    const telltale_scope scope = telltale_begin(&stop_site);
    const Detached left = attachment_->detach();
    telltale_end(&scope);
    is_recording_ = false;
    if (left == Detached::kGone || std::exchange(has_said_why_it_stays_, true)) return {};
    return {TELLTALE_STATUS_OK, why_it_stays(left)};
  }

  Outcome watch_graphs(const telltale_cuda_options& options) {
    if (is_in_forked_child()) return of_a_forked_child();
    const std::lock_guard held(mutex_);
    if (Outcome outcome = open(); outcome.status != TELLTALE_STATUS_OK) return outcome;
    if (is_recording_) return {};
    return attachment_->watch_graphs(options);
  }

 private:
  // Asked before the mutex is.
  bool is_in_forked_child() const {
    const pid_t opened_in = pid_.load(std::memory_order_relaxed);
    return mutex_.is_held_by_parent() || (opened_in != 0 && opened_in != getpid());
  }

  static Outcome of_a_forked_child() {
    return {TELLTALE_STATUS_CANNOT_OPEN, "CUDA cannot be recorded in a process that was forked while it was"};
  }

  Outcome open() {
    if (attachment_ != nullptr) return {};
    auto driver = open_cuda_driver();
    if (!driver) return {TELLTALE_STATUS_CANNOT_OPEN, driver.error()};
    auto cupti = open_cupti(*driver);
    if (!cupti) return {TELLTALE_STATUS_CANNOT_OPEN, cupti.error()};
    attachment_ = new CuptiAttachment(std::move(*driver), std::move(*cupti));
    pid_ = getpid();
    // After CUPTI has been loaded, so that it runs before CUPTI takes itself down.
    std::atexit([] { stop_cuda(); });
    pthread_atfork(nullptr, nullptr, &CuptiAttachment::leave_to_parent);
    return {};
  }

  MutexOfProcess mutex_;
  CuptiAttachment* attachment_ = nullptr;
  bool is_recording_ = false;
  bool has_said_why_it_stays_ = false;
  std::atomic<pid_t> pid_ = 0;
};

constinit CudaCapture the_capture;
static_assert(std::is_trivially_destructible_v<CudaCapture>);

template <typename Act>
Outcome without_exceptions(Act act) {
  try {
    return act();
  } catch (const std::exception& error) {
    return {TELLTALE_STATUS_NO_MEMORY, std::string("CUDA cannot be recorded: ") + error.what()};
  }
}

}  // namespace

Outcome start_cuda(const telltale_cuda_options& options) {
  return without_exceptions([&] { return the_capture.start(options); });
}

Outcome stop_cuda() {
  return without_exceptions([] { return the_capture.stop(); });
}

Outcome watch_cuda_graphs(const telltale_cuda_options& options) {
  return without_exceptions([&] { return the_capture.watch_graphs(options); });
}

}  // namespace telltale::capture
