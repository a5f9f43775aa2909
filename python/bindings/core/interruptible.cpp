#include "bindings/core/interruptible.h"

#include <nanobind/nanobind.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "bindings/core/errors.h"
#include "bindings/gil_released.h"

namespace telltale::python {
namespace {

namespace nb = nanobind;

constexpr std::chrono::milliseconds kBetweenLooks(20), kBetweenLooksAtExit(5);
constexpr std::chrono::seconds kLongestWaitAtExit(1);

// What a fork leaves a child with: no thread of ours, and how often it happened on the way to this process.
std::atomic<int> running_jobs = 0;
std::atomic<unsigned> forks = 0;

struct Job {
  const unsigned process = forks;
  std::mutex mutex;
  std::condition_variable changed;
  bool is_done = false;
  std::exception_ptr thrown;

  // In a child nobody works for it, and its mutex may be locked for ever.
  bool is_left_behind() const { return process != forks; }
};

void run(Job& job, const std::function<void()>& work) {
  std::exception_ptr thrown;
  try {
    work();
  } catch (...) {
    thrown = std::current_exception();
  }
  const std::scoped_lock lock(job.mutex);
  job.thrown = thrown;
  job.is_done = true;
  job.changed.notify_all();
}

std::shared_ptr<Job> started(const std::function<void()>& work) {
  auto job = std::make_shared<Job>();
  ++running_jobs;
  try {
    std::thread([job, work = std::function(work)]() mutable {
      run(*job, work);
      work = nullptr;  // what it holds must be gone before anybody may believe that it is
      --running_jobs;
    }).detach();
  } catch (...) {
    --running_jobs;
    throw;
  }
  return job;
}

bool is_done_soon(Job& job) {
  const GilReleased others_run;
  std::unique_lock lock(job.mutex);
  return job.changed.wait_for(lock, kBetweenLooks, [&job] { return job.is_done; });
}

}  // namespace

void run_interruptibly(const LongWork& work) {
  const std::shared_ptr<Job> job = started(work.run);
  try {
    while (!is_done_soon(*job)) {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (work.while_waiting) work.while_waiting();
      if (job->is_left_behind()) raise({"the process forked while this was being worked out: ask again", {}, {}});
    }
  } catch (...) {
    if (work.give_up) work.give_up();
    throw;
  }
  if (job->thrown) std::rethrow_exception(job->thrown);
}

void survive_forks() {
  pthread_atfork(nullptr, nullptr, [] {
    running_jobs = 0;
    ++forks;
  });
}

void wait_for_interrupted_work() {
  const GilReleased others_run;
  const auto latest = std::chrono::steady_clock::now() + kLongestWaitAtExit;
  while (running_jobs > 0 && std::chrono::steady_clock::now() < latest)
    std::this_thread::sleep_for(kBetweenLooksAtExit);
}

}  // namespace telltale::python
