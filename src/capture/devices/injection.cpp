// Records a CUDA program that knows nothing of it. `telltale record` has the driver load this library, by
// CUDA_INJECTION64_PATH, and cuInit() calls InitializeInjection(), before the program can have done anything with CUDA.
//
// A Python process that has loaded PyTorch is left to the Python package, which records its operators as well; so is a
// program that records itself already.
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <telltale/devices.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <string>
#include <utility>

#include "native_attachment.h"

namespace telltale::capture {
namespace {

constexpr double kLongestSeconds = 1e9;

std::atomic<pid_t> recorded_process = 0;  // whose session is ours; 0: there is none

void say(const char* what, const char* why) {
  dprintf(STDERR_FILENO, "telltale: %s in process %d: %s\n", what, static_cast<int>(getpid()), why);
}

bool has_python_torch() {
  const auto look = [](dl_phdr_info* info, size_t, void*) {
    return info->dlpi_name != nullptr && std::strstr(info->dlpi_name, "libtorch_python") != nullptr ? 1 : 0;
  };
  return dl_iterate_phdr(look, nullptr) != 0;
}

// Devices before the session, into which they tell the last of what they know. A child that was forked from what is
// recorded has neither.
bool end_recording(bool and_session) {
  pid_t ours = getpid();
  if (!recorded_process.compare_exchange_strong(ours, 0)) return false;
  telltale_gauges_stop();
  if (telltale_cuda_stop() == TELLTALE_STATUS_OK && telltale_devices_error_text()[0] != '\0')
    say("when the recording of the GPU stopped", telltale_devices_error_text());
  if (and_session) telltale_stop();
  return true;
}

// The recorder ends its session itself, later: handlers that were registered first are called last, and those of
// libraries after all of them.
void end_at_exit() { end_recording(/*and_session=*/false); }

void* end_after(void* seconds_given) {
  const double seconds = *static_cast<double*>(seconds_given);
  delete static_cast<double*>(seconds_given);
  const double whole = std::floor(seconds);
  timespec left = {static_cast<std::time_t>(whole), static_cast<long>((seconds - whole) * 1e9)};
  while (nanosleep(&left, &left) != 0) continue;
  end_recording(/*and_session=*/true);
  return nullptr;
}

// On a thread that takes no signal which is meant for the program's.
void end_in(double seconds) {
  if (!(seconds > 0 && seconds < kLongestSeconds)) return;
  auto* const given = new double(seconds);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  if (pthread_create(&thread, nullptr, end_after, given) == 0) {
    pthread_detach(thread);
  } else {
    delete given;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// So that `telltale record` knows who was there, also where no step is recorded.
void leave_mark(const std::string& folder) {
  if (folder.empty()) return;
  const std::string path = folder + "/cuda_" + std::to_string(getpid());
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file >= 0) close(file);
}

bool start_session(const NativeAttachment& attachment) {
  if (attachment.is_from_start()) telltale_metadata("telltale_from_start", "true");
  for (const auto& [variable, key] :
       {std::pair("RANK", "rank"), {"WORLD_SIZE", "world_size"}, {"LOCAL_RANK", "local_rank"}})
    if (const char* value = secure_getenv(variable)) telltale_metadata(key, value);
  telltale_options options;
  telltale_default_options(&options, sizeof options);
  options.path = attachment.path.c_str();
  options.schedule = attachment.schedule ? &*attachment.schedule : nullptr;
  if (attachment.memory_limit.value_or(0) > 0) options.memory_limit = *attachment.memory_limit;
  options.fork_mode = TELLTALE_FORK_OWN_FILE;
  const telltale_status status = telltale_start(&options);
  if (status == TELLTALE_STATUS_ALREADY_STARTED) {
    say("CUDA is not recorded", "the program records itself");
  } else if (status != TELLTALE_STATUS_OK) {
    say("no recording", telltale_error_text());
  }
  return status == TELLTALE_STATUS_OK;
}

void record(const NativeAttachment& attachment) {
  pid_t nobody = 0;
  if (!recorded_process.compare_exchange_strong(nobody, getpid())) return;
  if (!start_session(attachment)) {
    recorded_process = 0;
    return;
  }
  leave_mark(attachment.marks);
  telltale_cuda_options options;
  telltale_default_cuda_options(&options, sizeof options);
  options.calls = attachment.api ? TELLTALE_CUDA_CALLS_ALL : TELLTALE_CUDA_CALLS_CHOSEN;
  if (telltale_cuda_start(&options) != TELLTALE_STATUS_OK) say("CUDA is not recorded", telltale_devices_error_text());
  telltale_gauges_start(nullptr);  // not every machine has some
  std::atexit(end_at_exit);
  if (attachment.seconds) end_in(*attachment.seconds);
}

}  // namespace
}  // namespace telltale::capture

using namespace telltale::capture;

extern "C" telltale_status telltale_injected_stop(void) {
  return end_recording(/*and_session=*/true) ? TELLTALE_STATUS_OK : TELLTALE_STATUS_NOT_STARTED;
}

// Whatever becomes of it, CUDA is to go on: 1.
// NOLINTNEXTLINE(readability-identifier-naming): the name is the driver's
extern "C" TELLTALE_API int InitializeInjection(void) try {
  if (const auto attachment = native_attachment(); attachment && !has_python_torch()) record(*attachment);
  return 1;
} catch (const std::exception& error) {
  say("no recording", error.what());
  return 1;
}
