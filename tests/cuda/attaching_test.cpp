// CUPTI comes and goes: numbers that begin anew, contexts that end, threads that go on, other profilers.
#include <unistd.h>

#include <atomic>
#include <semaphore>
#include <set>
#include <thread>

#include "cuda_fixture.h"

namespace telltale::capture {
namespace {

using CudaAttaching = CudaTest;

TEST_F(CudaAttaching, a_hundred_times_in_one_session_nothing_is_lost_and_nothing_left_behind) {
  constexpr int kTimes = 100, kEach = 5;
  start_session();
  for (int time = 0; time < kTimes; ++time) {
    start();
    for (int i = 0; i < kEach; ++i) run_op(time * kEach + i);
    // Their numbers are beyond those of all kernels.
    for (int i = 0; i < 20; ++i) fake::call_runtime(CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020, fake::context(1));
    stop();
    run_op(-2);  // nobody is to see this
  }
  EXPECT_EQ(fake::calls_of("cuptiFinalize"), kTimes);
  EXPECT_EQ(fake::calls_of("cuptiSubscribe"), kTimes);
  EXPECT_EQ(fake::calls_of("cuptiUnsubscribe"), kTimes);
  EXPECT_EQ(fake::open_buffers(), 0u);
  const Trace trace = stop_and_read();
  EXPECT_EQ(numbers_of_kernels(trace), numbers(0, kTimes * kEach));
  EXPECT_EQ(count_of(trace, "cudaMalloc"), 20u * kTimes);
}

TEST_F(CudaAttaching, numbers_that_wrap_still_find_their_launches) {
  start_session();
  start();
  int number = 0;
  for (const fake::Correlation next : {1u, 1u << 30, 2u << 30, 3u << 30, 0xffff'fff0u}) {
    fake::set_next_correlation(next);
    for (int i = 0; i < 40; ++i) run_op(number++);
    read_all();  // no two of which the difference would be lost are on the way at once
  }
  stop();
  EXPECT_EQ(numbers_of_kernels(stop_and_read()), numbers(0, number));
}

// As after 2^32 calls, but at once: each number that is on the way stands for two launches.
TEST_F(CudaAttaching, numbers_that_repeat_find_the_launch_before_the_kernel) {
  constexpr int kLaunches = 40;
  start_session();
  start();
  fake::set_late(true);
  for (int i = 0; i < 2 * kLaunches; ++i) {
    if (i % kLaunches == 0) fake::set_next_correlation(1);
    run_op(i);
  }
  stop();
  EXPECT_EQ(numbers_of_kernels(stop_and_read()), numbers(0, 2 * kLaunches));
}

TEST_F(CudaAttaching, buffers_that_never_come_back_keep_nobody_from_stopping_and_recording_again) {
  constexpr int kTimes = 30;
  start_session();
  for (int time = 0; time < kTimes; ++time) {
    start();
    run_op(-1);
    fake::keep_buffers();
    run_op(time);
    stop();
  }
  EXPECT_EQ(fake::calls_of("cuptiFinalize"), kTimes);
  EXPECT_EQ(numbers_of_kernels(stop_and_read()), numbers(0, kTimes));
}

TEST_F(CudaAttaching, a_context_that_is_destroyed_is_not_waited_for_and_its_kernels_stay) {
  std::atomic<int> waits = 0;
  start_session();
  start();
  run_op(0);
  fake::destroy_context(fake::context(1));
  const fake::Correlation launched = launch_op(1, fake::context(2));
  fake::on_synchronize([&](CUcontext context) {
    EXPECT_EQ(context, fake::context(2));
    // What is still running at the end.
    if (waits++ > 0) return;
    fake::add(fake::kernel(launched, kernel_of(1), fake::device_time(), fake::device_time() + 10));
  });
  stop();
  EXPECT_GT(waits, 0);
  EXPECT_EQ(numbers_of_kernels(stop_and_read()), numbers(0, 2));
}

TEST_F(CudaAttaching, kernels_of_a_context_that_the_program_ends_are_taken_over_before) {
  start_session();
  start();
  run_op(0);
  run_op(1);
  fake::call_destroy_context(fake::context(1));
  stop();
  EXPECT_EQ(fake::calls_of("cuCtxPushCurrent_v2"), 0);  // it is no more
  const Trace trace = stop_and_read();
  EXPECT_EQ(numbers_of_kernels(trace), numbers(0, 2));
  EXPECT_EQ(count_of(trace, "cuCtxDestroy"), 1u);
}

TEST_F(CudaAttaching, a_context_with_the_address_of_one_that_is_gone_is_waited_for) {
  std::atomic<int> waits = 0;
  start_session();
  start();
  run_op(0);
  fake::destroy_context(fake::context(1));
  fake::create_context(fake::context(1));
  run_op(1);
  fake::on_synchronize([&](CUcontext) { ++waits; });
  stop();
  EXPECT_GT(waits, 0);
  EXPECT_EQ(numbers_of_kernels(stop_and_read()), numbers(0, 2));
}

TEST_F(CudaAttaching, a_context_that_was_destroyed_while_nobody_was_attached_is_never_touched_again) {
  start_session();
  start();
  run_op(0);
  stop();
  fake::destroy_context(fake::context(1));
  const int pushed = fake::calls_of("cuCtxPushCurrent_v2");
  start();
  stop();
  EXPECT_EQ(fake::calls_of("cuCtxPushCurrent_v2"), pushed);
  start();
  fake::create_context(fake::context(1));
  run_op(1);
  stop();
  EXPECT_GT(fake::calls_of("cuCtxPushCurrent_v2"), pushed);
  EXPECT_EQ(numbers_of_kernels(stop_and_read()), numbers(0, 2));
}

// The wait for another one may take long.
TEST_F(CudaAttaching, a_context_that_is_destroyed_while_another_is_waited_for_is_not_touched_again) {
  start_session();
  start();
  run_op(0);
  launch_op(1, fake::context(2));
  fake::on_synchronize([&](CUcontext context) {
    EXPECT_EQ(context, fake::context(1));
    fake::destroy_context(fake::context(2));
  });
  stop();
  EXPECT_GT(fake::calls_of("cuCtxSynchronize"), 0);
  EXPECT_EQ(fake::calls_of("cuCtxPushCurrent_v2"), fake::calls_of("cuCtxSynchronize"));
  EXPECT_EQ(numbers_of_kernels(stop_and_read()), numbers(0, 1));
}

TEST_F(CudaAttaching, a_start_that_fails_leaves_no_calls_recorded_while_graphs_are_watched) {
  const auto capture = [] {
    fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, fake::context(1));
    fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, fake::context(1));
  };
  start_session();
  ASSERT_EQ(watch_cuda_graphs(cuda_options()).status, TELLTALE_STATUS_OK);
  const int callbacks_of_graphs = fake::calls_of("cuptiEnableCallback");
  capture();
  stop_cuda();
  fake::fail("cuptiEnableCallback", CUPTI_ERROR_UNKNOWN, 2 * callbacks_of_graphs + 1, 2 * callbacks_of_graphs + 1);
  const Outcome outcome = start_cuda(cuda_options());
  EXPECT_NE(outcome.error.find("CUDA's calls"), std::string::npos) << outcome.error;
  ASSERT_EQ(watch_cuda_graphs(cuda_options()).status, TELLTALE_STATUS_OK);
  capture();
  stop_cuda();
  const Trace trace = stop_and_read();
  EXPECT_EQ(count_of(trace, "cuStreamBeginCapture") + count_of(trace, "cuStreamEndCapture"), 0u);
}

TEST_F(CudaAttaching, a_kernel_that_never_ends_keeps_nobody_from_stopping) {
  start_session();
  start();
  run_op(0);
  fake::add(fake::kernel(launch_op(1), kernel_of(1), fake::device_time(), 0));
  std::binary_semaphore ends(0);
  fake::on_synchronize([&](CUcontext) {
    ends.acquire();
    ends.release();
  });
  const Outcome outcome = stop_cuda();
  EXPECT_EQ(outcome.status, TELLTALE_STATUS_OK);
  EXPECT_NE(outcome.error.find("still at work"), std::string::npos) << outcome.error;
  // Not from under a kernel that it follows.
  EXPECT_EQ(fake::calls_of("cuptiFinalize"), 0);
  run_op(2);  // nobody is to see this

  start();
  run_op(3);
  EXPECT_EQ(stop_cuda().error, "");  // it has been said
  EXPECT_EQ(fake::calls_of("cuptiFinalize"), 0);
  const int waits = fake::calls_of("cuCtxSynchronize");
  EXPECT_EQ(stop_cuda().status, TELLTALE_STATUS_NOT_STARTED);
  EXPECT_EQ(fake::calls_of("cuCtxSynchronize"), waits);  // one thread that hangs is enough

  ends.release();
  while (fake::calls_of("cuptiFinalize") == 0) EXPECT_EQ(stop_cuda().status, TELLTALE_STATUS_NOT_STARTED);
  EXPECT_EQ(fake::calls_of("cuptiSubscribe"), 1);
  start();
  run_op(4);
  stop();
  EXPECT_EQ(fake::calls_of("cuptiSubscribe"), 2);
  EXPECT_EQ(numbers_of_kernels(stop_and_read()), (std::vector<int>{0, 3, 4}));
}

TEST_F(CudaAttaching, graphs_are_seen_while_it_stays_for_a_kernel_that_does_not_end) {
  telltale_cuda_options options = cuda_options();
  options.stacks = [](int, std::uint32_t* stack, std::uint32_t*) {
    *stack = telltale_intern("train.py(12): forward");
    return 1;
  };
  options.calls = TELLTALE_CUDA_CALLS_ALL;
  fake::set_domains_take_all_along(true);
  start_session();
  start(options);
  run_op(0);
  std::binary_semaphore ends(0);
  fake::on_synchronize([&](CUcontext) {
    ends.acquire();
    ends.release();
  });
  stop_cuda();
  EXPECT_EQ(fake::calls_of("cuptiFinalize"), 0);
  fake::create_node(fake::graph(1), fake::node(700));
  ends.release();
  start(options);
  const fake::Correlation launched = fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, fake::context(1));
  CUpti_ActivityKernel9 record = fake::kernel(launched, "replayed", fake::device_time(), fake::device_time() + 10);
  record.graphId = 1;
  record.graphNodeId = 700;
  fake::add(record);
  stop();
  const Trace trace = stop_and_read();
  const auto replayed = events_named(trace, "replayed");
  ASSERT_EQ(replayed.size(), 1u);
  EXPECT_NE(trace.graph_origins.find(replayed[0]), nullptr);
}

TEST_F(CudaAttaching, threads_launch_while_it_comes_and_goes) {
  constexpr int kThreads = 4, kTimes = 15;
  start_session();
  std::atomic<bool> ends = false;
  std::atomic<int> next = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      while (!ends) {
        run_op(next++);
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    });
  std::vector<std::pair<int, int>> inside;  // launches that began and ended while it was attached
  for (int time = 0; time < kTimes; ++time) {
    start();
    const int first = next + kThreads;
    while (next < first + 20) std::this_thread::yield();
    inside.emplace_back(first, next - kThreads);
    stop();
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
  const Trace trace = stop_and_read();
  // One that was launched while CUPTI came may be there without its launch.
  std::set<int> found;
  for (EventId event = 0; event < trace.events.size(); ++event)
    if (trace.events.kind[event] == Kind::kKernel) found.insert(std::stoi(std::string(trace.name(event).substr(7))));
  for (const auto& [first, last] : inside)
    for (int number = first; number < last; ++number) EXPECT_TRUE(found.contains(number)) << number;
}

// Also for a race detector to look at.
TEST_F(CudaAttaching, kernels_keep_to_their_launches_whatever_other_threads_do_while_it_comes_and_goes) {
  constexpr int kThreads = 3, kTimes = 60;
  telltale_cuda_options options = cuda_options();
  options.stacks = [](int, std::uint32_t* stack, std::uint32_t*) {
    *stack = telltale_intern("train.py(12): forward");
    return 1;
  };
  std::atomic<bool> ends = false;
  std::atomic<int> next = 0;
  const auto work = [&](int thread) {
    CUcontext const own = fake::context(1 + thread);
    CUstream stream = fake::stream(7 + thread);
    struct {
      CUevent event;
      CUstream stream;
    } parameters = {fake::event(1 + thread), stream};
    for (int turn = 0; !ends; ++turn) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      const int number = next++;
      const fake::Correlation launched = launch_op(number, own);
      fake::add(fake::kernel(launched, kernel_of(number), fake::device_time(), fake::device_time() + 10),
                fake::attachment_of_last_call());
      fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuEventRecord, own, {.parameters = &parameters});
      fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize, own, {.parameters = &parameters});
      if (turn % 20 == 0) {
        fake::call_destroy_context(own);
        fake::create_context(own);
      }
      if (turn % 50 != 0) continue;
      const int first = 1 + 2 * (kThreads * turn + thread);
      fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, own, {.parameters = &stream});
      fake::create_node(fake::graph(first), fake::node(first));
      fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, own, {.parameters = &stream});
      fake::clone_node(fake::graph(first + 1), fake::node(first + 1), fake::node(first));
      fake::destroy_node(fake::graph(first), fake::node(first));
    }
  };
  start_session();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) threads.emplace_back(work, thread);
  threads.emplace_back([&] {
    while (!ends) {
      fake::complete_buffers();
      watch_cuda_graphs(options);
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  });
  for (int time = 0; time < kTimes; ++time) {
    start_cuda(options);
    for (const int first = next; next < first + 10;) std::this_thread::yield();
    stop_cuda();
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
  stop_cuda();
  const Trace trace = stop_and_read();
  std::size_t kernels = 0, wrong = 0;
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (trace.events.kind[event] != Kind::kKernel) continue;
    ++kernels;
    // Of a launch that began before it came, nothing is known.
    const EventId launch = trace.launch_of(event);
    if (launch != kNoEvent && trace.name(event) != std::string_view(kernel_of(number_around(trace, launch)))) ++wrong;
  }
  EXPECT_GT(kernels, 0u);
  EXPECT_EQ(wrong, 0u);
}

TEST_F(CudaAttaching, another_profiler_is_left_alone_and_the_recording_goes_on) {
  fake::subscribe_another();
  start_session();
  const Outcome outcome = start_cuda(cuda_options());
  EXPECT_EQ(outcome.status, TELLTALE_STATUS_CANNOT_OPEN);
  EXPECT_NE(outcome.error.find("another profiler"), std::string::npos) << outcome.error;
  launch_op(1);
  EXPECT_EQ(stop_cuda().status, TELLTALE_STATUS_NOT_STARTED);
  EXPECT_EQ(fake::calls_of("cuptiFinalize"), 0);
  EXPECT_EQ(fake::calls_of("cuptiActivityDisable"), 0);
  EXPECT_EQ(count_of(stop_and_read(), "op"), 1u);
}

// ---- Which calls ----

}  // namespace
}  // namespace telltale::capture
