#include "bindings/core/interruptible.h"

#include <nanobind/nanobind.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace telltale::python {
namespace {

namespace nb = nanobind;

constexpr std::chrono::milliseconds kBetweenLooks(20);
constexpr std::chrono::seconds kLongestWaitAtExit(1);

struct Job {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_done = false;
  std::exception_ptr thrown;
};

// How many threads of ours run. Never destroyed: a thread may end after the program's statics.
struct RunningJobs {
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0;

  void add(int more) {
    const std::scoped_lock lock(mutex);
    count += more;
    changed.notify_all();
  }
};

RunningJobs& running_jobs() {
  static auto* const kJobs = new RunningJobs;
  return *kJobs;
}

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
  running_jobs().add(1);
  try {
    std::thread([job, work = std::function(work)]() mutable {
      run(*job, work);
      work = nullptr;  // what it holds must be gone before anybody may believe that it is
      running_jobs().add(-1);
    }).detach();
  } catch (...) {
    running_jobs().add(-1);
    throw;
  }
  return job;
}

bool is_done_soon(Job& job) {
  const nb::gil_scoped_release others_run;
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
    }
  } catch (...) {
    if (work.give_up) work.give_up();
    throw;
  }
  if (job->thrown) std::rethrow_exception(job->thrown);
}

void wait_for_interrupted_work() {
  const nb::gil_scoped_release others_run;
  RunningJobs& jobs = running_jobs();
  std::unique_lock lock(jobs.mutex);
  jobs.changed.wait_for(lock, kLongestWaitAtExit, [&jobs] { return jobs.count == 0; });
}

}  // namespace telltale::python
