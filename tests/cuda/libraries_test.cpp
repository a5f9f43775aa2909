// What needs a process of its own, since what has been opened stays open: machines without a driver, without CUPTI, or
// with old ones, of which a sentence says so and nothing else happens; and processes that are killed or forked.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <semaphore>
#include <thread>

#include "cuda_fixture.h"

namespace telltale::capture {
namespace {

class CudaLibraries : public CudaTest {
 protected:
  // What start_cuda() says in a process of its own, where `prepare` has been called before.
  template <typename Prepare>
  std::string said_after(Prepare prepare) {
    int ends[2] = {-1, -1};
    if (pipe(ends) != 0) return "no pipe";
    const pid_t child = fork();
    if (child == 0) {
      prepare();
      const Outcome outcome = start_cuda(cuda_options());
      stop_cuda();
      const bool is_written = write(ends[1], outcome.error.data(), outcome.error.size()) >= 0;
      _exit(is_written && (outcome.status == TELLTALE_STATUS_OK) == outcome.error.empty() ? 0 : 1);
    }
    close(ends[1]);
    EXPECT_TRUE(wait_for(child).exited_with(0));
    std::string said(1000, '\0');
    said.resize(static_cast<std::size_t>(std::max<ssize_t>(read(ends[0], said.data(), said.size()), 0)));
    close(ends[0]);
    return said;
  }

  // Whether a child that is forked now can neither record CUDA nor hangs.
  static bool is_refused_in_a_fork() {
    const pid_t forked = fork();
    if (forked == 0) {
      alarm(20);
      const bool are_refused = start_cuda(cuda_options()).status == TELLTALE_STATUS_CANNOT_OPEN &&
                               watch_cuda_graphs(cuda_options()).status == TELLTALE_STATUS_CANNOT_OPEN &&
                               stop_cuda().status == TELLTALE_STATUS_NOT_STARTED;
      _exit(are_refused ? 0 : 1);
    }
    return wait_for(forked).exited_with(0);
  }
};

TEST_F(CudaLibraries, that_are_there_are_used) {
  EXPECT_EQ(said_after([] {}), "");
}

TEST_F(CudaLibraries, no_driver) {
  EXPECT_EQ(said_after([] { setenv("TELLTALE_CUDA_LIBRARY", "/nowhere/libcuda.so", 1); }),
            "there is no NVIDIA driver (libcuda.so.1)");
}

TEST_F(CudaLibraries, no_cupti) {
  EXPECT_EQ(said_after([] { setenv("TELLTALE_CUPTI_LIBRARY", "/nowhere/libcupti.so", 1); }),
            "/nowhere/libcupti.so cannot be opened");
}

TEST_F(CudaLibraries, something_else_under_their_names) {
  EXPECT_NE(said_after([] { setenv("TELLTALE_CUDA_LIBRARY", "libc.so.6", 1); }).find("too old"), std::string::npos);
  EXPECT_NE(said_after([] { setenv("TELLTALE_CUPTI_LIBRARY", "libc.so.6", 1); }).find("too old"), std::string::npos);
}

TEST_F(CudaLibraries, that_tell_no_version) {
  EXPECT_EQ(said_after([] { fake::fail("cuDriverGetVersion", CUDA_ERROR_UNKNOWN); }),
            "the NVIDIA driver does not tell its version");
  EXPECT_NE(said_after([] { fake::fail("cuptiGetVersion", CUPTI_ERROR_UNKNOWN); }).find("too old"), std::string::npos);
}

TEST_F(CudaLibraries, a_process_that_is_killed_has_told_what_was_lost_until_then) {
  const pid_t child = fork();
  if (child == 0) {
    start_session();
    start();
    run_op(0);
    fake::drop_records(500);
    read_all();
    std::this_thread::sleep_for(std::chrono::milliseconds(600));  // told at the next reading, and then written
    raise(SIGKILL);
  }
  wait_for(child);
  const Trace trace = read_recording(path());
  EXPECT_EQ(trace.anomalies.count(Anomaly::kUnfinishedRecording), 1u);
  EXPECT_GE(trace.anomalies.count(Anomaly::kDroppedDeviceRecords), 499u);
  EXPECT_EQ(count_of(trace, "kernel_0"), 1u);
}

TEST_F(CudaLibraries, a_process_that_is_forked_while_another_thread_stops_does_not_hang) {
  const pid_t child = fork();
  if (child == 0) {
    start_session();
    start();
    run_op(0);
    std::binary_semaphore ends(0);
    fake::on_synchronize([&](CUcontext) {
      ends.acquire();
      ends.release();
    });
    std::thread stops([] { stop_cuda(); });
    while (fake::calls_of("cuCtxSynchronize") == 0) std::this_thread::yield();
    const bool is_good = is_refused_in_a_fork();
    ends.release();
    stops.join();
    _exit(is_good ? 0 : 1);
  }
  EXPECT_TRUE(wait_for(child).exited_with(0));
}

// A thread of the parent may be in what hands them out, and so hold its lock, when the process is forked.
TEST_F(CudaLibraries, a_process_that_is_forked_gives_cupti_no_buffers) {
  const pid_t child = fork();
  if (child == 0) {
    start_session();
    start();
    run_op(0);
    const pid_t forked = fork();
    if (forked == 0) {
      alarm(20);
      const std::size_t open = fake::open_buffers();
      fake::begin_buffer();
      run_op(1);
      _exit(fake::open_buffers() == open ? 0 : 1);
    }
    const bool is_good = wait_for(forked).exited_with(0);
    stop_cuda();
    _exit(is_good && telltale_stop() == TELLTALE_STATUS_OK ? 0 : 1);
  }
  EXPECT_TRUE(wait_for(child).exited_with(0));
  EXPECT_EQ(numbers_of_kernels(read_recording(path())), numbers(0, 1));
}

TEST_F(CudaLibraries, a_process_that_is_forked_while_another_thread_starts_for_the_first_time_does_not_hang) {
  const pid_t child = fork();
  if (child == 0) {
    start_session();
    std::binary_semaphore is_starting(0), goes_on(0);
    fake::on_entering("cuDriverGetVersion", [&] {
      is_starting.release();
      goes_on.acquire();
    });
    std::thread starts([] { start_cuda(cuda_options()); });
    is_starting.acquire();
    const bool is_good = is_refused_in_a_fork();
    goes_on.release();
    starts.join();
    _exit(is_good && stop_cuda().status == TELLTALE_STATUS_OK ? 0 : 1);
  }
  EXPECT_TRUE(wait_for(child).exited_with(0));
}

TEST_F(CudaLibraries, what_they_dropped_is_counted_to_the_last_but_for_the_one_too_many_that_13_0_counts) {
  for (const std::uint32_t version : {130001, 130100, 26}) {
    const pid_t child = fork();
    if (child == 0) {
      fake::set_cupti_version(version);
      start_session();
      start();
      run_op(0);
      fake::drop_records(5);
      stop();
      _exit(telltale_stop() == TELLTALE_STATUS_OK ? 0 : 1);
    }
    EXPECT_TRUE(wait_for(child).exited_with(0));
    EXPECT_EQ(read_recording(path()).anomalies.count(Anomaly::kDroppedDeviceRecords), 5u) << version;
  }
}

TEST_F(CudaLibraries, from_before_cuda_12_0_are_too_old) {
  EXPECT_NE(said_after([] { fake::set_cupti_version(17); }).find("too old"), std::string::npos);
  EXPECT_EQ(said_after([] { fake::set_cupti_version(18); }), "");
}

// Whose records of overhead are shorter.
TEST_F(CudaLibraries, from_before_cuda_12_4_hand_over_no_memory_with_records) {
  const pid_t child = fork();
  if (child == 0) {
    static std::uint64_t not_allocated[4] = {};
    fake::set_cupti_version(21);
    start_session();
    start();
    run_op(0);
    CUpti_ActivityOverhead3 overhead = {};
    overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
    overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL;
    overhead.start = fake::device_time();
    overhead.end = overhead.start + 10;
    overhead.overheadData = &not_allocated[2];
    fake::add(overhead);
    stop();
    _exit(telltale_stop() == TELLTALE_STATUS_OK && !HasFailure() ? 0 : 1);
  }
  EXPECT_TRUE(wait_for(child).exited_with(0));
  EXPECT_EQ(count_of(read_recording(path()), "Command Buffer Full"), 1u);
}

// They would break the program: pytorch#112507, and CUPTI's release notes on CUDA 12.4 Update 1.
TEST_F(CudaLibraries, from_before_cuda_12_6_stay_in_a_process_with_graphs) {
  for (const bool stays : {true, false}) {
    const pid_t child = fork();
    if (child == 0) {
      fake::set_cupti_version(stays ? 23 : 24);
      start_session();
      start();
      run_op(0);
      EXPECT_EQ(stop_cuda().error, "");
      EXPECT_EQ(fake::calls_of("cuptiFinalize"), 1) << "there is no graph yet";
      start();
      run_op(1);
      fake::create_node(fake::graph(1), fake::node(1));
      const std::string said = stop_cuda().error;
      EXPECT_EQ(said.find("uses CUDA graphs") != std::string::npos, stays) << said;
      EXPECT_EQ(fake::calls_of("cuptiFinalize"), stays ? 1 : 2);
      run_op(2);  // nobody is to see this
      start();
      run_op(3);
      EXPECT_EQ(stop_cuda().error, "") << "it has been said";
      EXPECT_EQ(fake::calls_of("cuptiFinalize"), stays ? 1 : 3);
      EXPECT_EQ(fake::calls_of("cuptiUnsubscribe"), 3) << "another profiler may come";
      _exit(telltale_stop() == TELLTALE_STATUS_OK && !HasFailure() ? 0 : 1);
    }
    EXPECT_TRUE(wait_for(child).exited_with(0));
    EXPECT_EQ(numbers_of_kernels(read_recording(path())), (std::vector<int>{0, 1, 3}));
  }
}

// ---- Forks and kills at every moment ----

constexpr const char* kFunctions[] = {"cuptiSubscribe",
                                      "cuptiEnableCallback",
                                      "cuptiActivityRegisterCallbacks",
                                      "cuptiActivityEnable",
                                      "cuptiGetTimestamp",
                                      "cuptiGetGraphNodeId",
                                      "cuptiGetStreamIdEx",
                                      "cuptiGetDeviceId",
                                      "cuptiActivityDisable",
                                      "cuCtxSynchronize",
                                      "cuptiActivityGetNextRecord",
                                      "cuptiActivityGetNumDroppedRecords",
                                      "cuptiUnsubscribe",
                                      "cuptiFinalize",
                                      "cuptiActivityFlushAll"};

struct EventAndStream {
  CUevent event = fake::event(5);
  CUstream stream = fake::stream(7);
};

void work(int number) {
  static const EventAndStream parameters;
  run_op(number);
  fake::create_node(fake::graph(1), fake::node(number + 1));
  fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuEventRecord, fake::context(1), {.parameters = &parameters});
  fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize, fake::context(1), {.parameters = &parameters});
}

TEST_F(CudaLibraries, a_process_that_is_forked_inside_any_of_their_functions_has_a_child_that_does_not_hang) {
  const pid_t child = fork();
  if (child == 0) {
    telltale_options wanted = options();
    wanted.fork_mode = TELLTALE_FORK_OWN_FILE;
    ASSERT_EQ(telltale_start(&wanted), TELLTALE_STATUS_OK);
    int number = 0;
    for (const char* function : kFunctions) {
      std::atomic<bool> has_forked = false;
      fake::on_entering(function, [&] {
        if (has_forked.exchange(true)) return;
        const pid_t forked = fork();
        if (forked == 0) {
          alarm(20);
          const int flushed = fake::calls_of("cuptiActivityFlushAll");
          work(0);  // which CUDA refuses, and CUPTI tells of nevertheless
          fake::call_destroy_context(fake::context(1));
          if (fake::calls_of("cuptiActivityFlushAll") != flushed) _exit(2);
          const bool are_refused = start_cuda(cuda_options()).status == TELLTALE_STATUS_CANNOT_OPEN &&
                                   stop_cuda().status == TELLTALE_STATUS_NOT_STARTED;
          _exit(are_refused ? 0 : 1);
        }
        EXPECT_TRUE(wait_for(forked).exited_with(0)) << function;
      });
      start();
      work(number++);
      stop();
      EXPECT_TRUE(has_forked) << function;
      fake::on_entering(function, [] {});
    }
    _exit(telltale_stop() == TELLTALE_STATUS_OK && !HasFailure() ? 0 : 1);
  }
  EXPECT_TRUE(wait_for(child).exited_with(0));
  EXPECT_EQ(numbers_of_kernels(read_recording(path())), numbers(0, static_cast<int>(std::size(kFunctions))));
}

TEST_F(CudaLibraries, a_process_that_is_killed_inside_any_of_their_functions_leaves_what_was_written_until_then) {
  struct Killed {
    const char* function;
    std::string path;
    pid_t pid;
  };
  std::vector<Killed> all;
  for (const char* function : kFunctions) {
    Killed one = {function, path(std::string(function) + ".tell"), 0};
    one.pid = fork();
    if (one.pid == 0) {
      telltale_options wanted = options();
      wanted.path = one.path.c_str();
      if (telltale_start(&wanted) != TELLTALE_STATUS_OK) _exit(2);
      start();
      work(0);
      read_all();
      std::this_thread::sleep_for(std::chrono::milliseconds(800));  // so that it is written
      fake::on_entering(function, [] { raise(SIGKILL); });
      work(1);
      stop_cuda();
      start_cuda(cuda_options());
      _exit(3);
    }
    all.push_back(one);
  }
  for (const Killed& one : all) {
    const int status = wait_for(one.pid).status;
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << one.function << " " << status;
    const Trace trace = read_recording(one.path);
    EXPECT_EQ(trace.anomalies.count(Anomaly::kUnfinishedRecording), 1u) << one.function;
    const auto written = events_named(trace, "kernel_0");
    ASSERT_EQ(written.size(), 1u) << one.function;
    ASSERT_NE(trace.launch_of(written[0]), kNoEvent) << one.function;
    EXPECT_EQ(number_around(trace, trace.launch_of(written[0])), 0) << one.function;
  }
}

// In a process of its own, whose names it uses up.
TEST_F(CudaLibraries, kernels_of_many_names_are_kernels_and_names_without_room_are_counted) {
  constexpr std::size_t kKernels = 100'000;
  const pid_t child = fork();
  if (child == 0) {
    start_session();
    start();
    for (std::size_t i = 0; i < kKernels; ++i) run_op(static_cast<int>(i));
    stop();
    _exit(telltale_stop() == TELLTALE_STATUS_OK ? 0 : 1);
  }
  EXPECT_TRUE(wait_for(child).exited_with(0));
  const Trace trace = read_recording(path());
  std::size_t kernels = 0, nameless = 0;
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (trace.events.kind[event] != Kind::kKernel) continue;
    ++kernels;
    nameless += trace.name(event) == "(too many names)";
  }
  EXPECT_EQ(kernels, kKernels);
  EXPECT_LT(nameless, kKernels / 2);
  ASSERT_GT(nameless, 0u);
  const std::size_t told = std::stoul(metadata(trace, "names_not_kept"));
  EXPECT_GE(told, nameless);
  EXPECT_LE(told, nameless + 5) << "what ends the recording has names as well";
}

}  // namespace
}  // namespace telltale::capture
