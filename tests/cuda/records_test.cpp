// What CUPTI's records become, in whatever order and however late they come.
#include <malloc.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "cuda_fixture.h"

namespace telltale::capture {
namespace {

class CudaRecords : public CudaTest {
 protected:
  // Of this process until now: the recording has them all.
  int dropped_until_now() {
    start_session();
    start();
    stop();
    return dropped_in(stop_and_read());
  }
  static int dropped_in(const Trace& trace) { return std::stoi(metadata(trace, "cupti_dropped_records").substr(1)); }
};

TEST_F(CudaRecords, buffers_in_any_order_give_each_kernel_its_launch) {
  start_session();
  start();
  for (int i = 0; i < 300; ++i) {
    if (i % 10 == 0) fake::begin_buffer();
    run_op(i);
    if (i % 70 == 0) fake::complete_buffers(fake::Order::kReversed);
  }
  fake::complete_buffers(fake::Order::kReversed);
  stop();
  EXPECT_EQ(numbers_of_kernels(stop_and_read()), numbers(0, 300));
}

TEST_F(CudaRecords, buffers_that_come_only_at_the_end_are_read) {
  start_session();
  start();
  fake::set_late(true);
  for (int i = 0; i < 100; ++i) run_op(i);
  stop();
  EXPECT_EQ(fake::open_buffers(), 0u);
  EXPECT_EQ(numbers_of_kernels(stop_and_read()), numbers(0, 100));
}

TEST_F(CudaRecords, records_of_other_launches_come_before_those_of_earlier_ones) {
  start_session();
  start();
  std::vector<fake::Correlation> launches;
  for (int i = 0; i < 100; ++i) launches.push_back(launch_op(i));
  const std::uint64_t now = fake::device_time();
  for (int i = 99; i >= 0; --i)
    fake::add(fake::kernel(launches[i], kernel_of(i), now + i * 1000, now + i * 1000 + 500));
  stop();
  const Trace trace = stop_and_read();
  EXPECT_EQ(numbers_of_kernels(trace), numbers(0, 100));
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (trace.events.kind[event] != Kind::kKernel) continue;
    EXPECT_NEAR(static_cast<double>(trace.events.duration[event]), 500, 20);
    EXPECT_EQ(trace.tracks[trace.events.track[event]].device, 0);
  }
}

// With a schedule, CUPTI is attached some steps before the file begins.
TEST_F(CudaRecords, of_work_that_begins_in_a_file_are_in_it_though_it_was_launched_before) {
  start();
  run_op(-2);
  const fake::Correlation queued = launch_op(-3);
  start_session();
  run_op(0);
  fake::add(fake::kernel(queued, kernel_of(-1), fake::device_time(), fake::device_time() + 10));
  run_op(1);
  stop();
  EXPECT_EQ(numbers_of_kernels(stop_and_read()), numbers(-1, 3));
}

TEST_F(CudaRecords, what_cupti_dropped_is_in_the_recording) {
  const int before = dropped_until_now();
  start_session();
  start();
  run_op(0);
  fake::drop_records(5);
  fake::complete_buffers();
  stop();
  EXPECT_EQ(dropped_in(stop_and_read()), before + 5);
}

TEST_F(CudaRecords, that_were_dropped_are_not_missed_in_a_later_recording_without_cuda) {
  start_session();
  start();
  run_op(0);
  fake::drop_records(5);
  stop();
  EXPECT_GE(dropped_in(stop_and_read()), 5);
  start_session();
  launch_op(1);
  const Trace trace = stop_and_read();
  EXPECT_EQ(count_of(trace, "op"), 1u);
  EXPECT_EQ(trace.anomalies.total(), 0u);
  EXPECT_EQ(metadata(trace, "cuda_calls"), "(none)");
}

TEST_F(CudaRecords, memory_for_records_is_bounded_and_what_does_not_fit_is_counted) {
  const int before = dropped_until_now();
  start_session();
  telltale_cuda_options options = cuda_options();
  options.buffer_mib = 0;  // as little as there can be
  start(options);
  fake::set_late(true);
  constexpr int kLaunches = 5000;
  for (int i = 0; i < kLaunches; ++i) run_op(i);
  stop();
  const Trace trace = stop_and_read();
  const auto kept = static_cast<int>(numbers_of_kernels(trace).size());
  EXPECT_GT(kept, 0);
  EXPECT_LT(kept, kLaunches);
  EXPECT_EQ(dropped_in(trace), before + kLaunches - kept);
}

TEST_F(CudaRecords, kernels_tell_how_they_were_launched) {
  start_session();
  start();
  CUpti_ActivityKernel9 record = fake::kernel(launch_op(3), kernel_of(3), fake::device_time(), fake::device_time() + 9);
  record.gridX = 264;
  record.gridY = 2;
  record.dynamicSharedMemory = 4096;
  record.staticSharedMemory = 16;
  record.streamId = 21;
  fake::add(record);
  stop();
  const Trace trace = stop_and_read();
  const auto kernels = events_named(trace, "kernel_3");
  ASSERT_EQ(kernels.size(), 1u);
  const KernelInfo* info = trace.kernels.find(kernels[0]);
  ASSERT_NE(info, nullptr);
  const KernelLaunch& launch = trace.kernel_launches[info->launch];
  EXPECT_EQ(launch.grid, (std::array<std::int32_t, 3>{264, 2, 1}));
  EXPECT_EQ(launch.block, (std::array<std::int32_t, 3>{256, 1, 1}));
  EXPECT_EQ(launch.registers_per_thread, 32);
  EXPECT_EQ(launch.shared_memory_bytes, 4112);
  EXPECT_FLOAT_EQ(launch.blocks_per_multiprocessor, 528 / 132.0);
  EXPECT_FLOAT_EQ(launch.warps_per_multiprocessor, 528 * 8 / 132.0);
  EXPECT_EQ(trace.tracks[trace.events.track[kernels[0]]].native_id, 21);
  EXPECT_EQ(trace.devices.at(0).name, "Fake \"GPU\"");
}

TEST_F(CudaRecords, copies_and_fills_have_their_bytes) {
  start_session();
  start();
  const fake::Correlation copied = fake::call_runtime(CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, fake::context(1));
  CUpti_ActivityMemcpy5 copy = {};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
  copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  copy.bytes = 12345;
  copy.start = fake::device_time();
  copy.end = copy.start + 700;
  copy.correlationId = copied;
  fake::add(copy);
  CUpti_ActivityMemset4 fill = {};
  fill.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  fill.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  fill.bytes = 77;
  fill.start = fake::device_time();
  fill.end = fill.start + 100;
  fake::add(fill);
  stop();
  const Trace trace = stop_and_read();
  const auto copies = events_named(trace, "Memcpy HtoD (Pinned -> Device)");
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(trace.copies.find(copies[0])->bytes, 12345);
  EXPECT_EQ(trace.name(trace.launch_of(copies[0])), "cudaMemcpyAsync");
  const auto fills = events_named(trace, "Memset (Device)");
  ASSERT_EQ(fills.size(), 1u);
  EXPECT_EQ(trace.copies.find(fills[0])->bytes, 77);
}

TEST_F(CudaRecords, copies_between_devices_stand_on_the_device_that_made_them) {
  start_session();
  start();
  CUpti_ActivityMemcpyPtoP4 copy = {};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  copy.srcKind = copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  copy.bytes = 4096;
  copy.deviceId = copy.srcDeviceId = 1;
  copy.streamId = 13;
  copy.correlationId = fake::call_runtime(CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, fake::context(1));
  copy.start = fake::device_time();
  copy.end = copy.start + 900;
  fake::add(copy);
  stop();
  const Trace trace = stop_and_read();
  const auto copies = events_named(trace, "Memcpy PtoP (Device -> Device)");
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(trace.events.kind[copies[0]], Kind::kMemcpy);
  EXPECT_EQ(trace.copies.find(copies[0])->bytes, 4096);
  EXPECT_EQ(trace.tracks[trace.events.track[copies[0]]].device, 1);
  EXPECT_EQ(trace.tracks[trace.events.track[copies[0]]].native_id, 13);
  EXPECT_EQ(trace.name(trace.launch_of(copies[0])), "cudaMemcpyAsync");
}

// Long before they are decoded.
TEST_F(CudaRecords, memory_pools_and_overhead_stand_where_they_happened) {
  static telltale_site after_site = {"after", "", "", "", nullptr, 0, 0, TELLTALE_KIND_SCOPE, 0};
  start_session();
  start();
  run_op(0);
  CUpti_ActivityMemoryPool2 pool = {};
  pool.kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL;
  pool.memoryPoolOperationType = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED;
  pool.size = 1 << 20;
  pool.timestamp = fake::device_time();
  fake::add(pool);
  CUpti_ActivityOverhead overhead = {};
  overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH;
  overhead.start = fake::device_time();
  overhead.end = overhead.start + 3000;
  fake::add(overhead);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  telltale_instant(&after_site, nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  stop();
  const Trace trace = stop_and_read();
  const auto launch = events_named(trace, "cuLaunchKernel"), after = events_named(trace, "after");
  ASSERT_EQ(launch.size(), 1u);
  ASSERT_EQ(after.size(), 1u);
  for (const char* name : {"Memory pool trimmed", "Buffer Flush"}) {
    const auto found = events_named(trace, name);
    ASSERT_EQ(found.size(), 1u) << name;
    EXPECT_GE(trace.events.start[found[0]], trace.events.start[launch[0]]) << name;
    EXPECT_LT(trace.events.start[found[0]], trace.events.start[after[0]]) << name;
  }
  EXPECT_EQ(integer_of(trace, events_named(trace, "Memory pool trimmed")[0], "pool bytes"), 1 << 20);
  EXPECT_EQ(trace.events.kind[events_named(trace, "Buffer Flush")[0]], Kind::kOverhead);
}

// From CUDA 12.4 on, whoever reads such a record frees what belongs to it.
TEST_F(CudaRecords, of_full_command_buffers_leave_no_memory_behind) {
  constexpr int kRecords = 20'000;
  constexpr std::size_t kEach = 1000;
  start_session();
  start();
  run_op(0);
  const auto add_some = [](int count) {
    for (int i = 0; i < count; ++i) {
      CUpti_ActivityOverhead3 overhead = {};
      overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
      overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL;
      overhead.start = fake::device_time();
      overhead.end = overhead.start + 10;
      overhead.overheadData = std::malloc(kEach);  // NOLINT(cppcoreguidelines-no-malloc): as CUPTI does
      fake::add(overhead);
      if (i % 500 == 499) read_all();
    }
  };
  add_some(1000);
  const std::size_t before = mallinfo2().uordblks;
  add_some(kRecords);
  EXPECT_LT(mallinfo2().uordblks, before + kRecords * kEach / 4);
  stop();
  EXPECT_EQ(count_of(stop_and_read(), "Command Buffer Full"), kRecords + 1000u);
}

// They point to what is CUPTI's own. This one is flushed when all that came before has been read.
TEST_F(CudaRecords, have_their_names_though_cupti_takes_those_along_when_it_goes) {
  char name[] = "kernel_1";
  start_session();
  start();
  const fake::Correlation launched = launch_op(1);
  bool is_added = false;
  fake::on_entering("cuptiActivityDisable", [&] {
    if (std::exchange(is_added, true)) return;
    fake::add(fake::kernel(launched, name, fake::device_time(), fake::device_time() + 10));
  });
  fake::on_entering("cuptiFinalize", [&] { std::strcpy(name, "gone"); });
  stop();
  EXPECT_STREQ(name, "gone");
  EXPECT_EQ(numbers_of_kernels(stop_and_read()), std::vector<int>{1});
}

TEST_F(CudaRecords, of_a_newer_cupti_are_longer_and_read_as_far_as_they_are_known) {
  start_session();
  start();
  for (int i = 0; i < 50; ++i) {
    struct {
      CUpti_ActivityKernel9 known;
      std::uint64_t more[5] = {~0ull, ~0ull, ~0ull, ~0ull, ~0ull};
    } record = {fake::kernel(launch_op(i), kernel_of(i), fake::device_time(), fake::device_time() + 100)};
    fake::add(record);
  }
  stop();
  const Trace trace = stop_and_read();
  EXPECT_EQ(numbers_of_kernels(trace), numbers(0, 50));
  EXPECT_EQ(trace.anomalies.count(Anomaly::kUnfinishedDeviceWork), 0u);
}

TEST_F(CudaRecords, of_allocations_are_not_asked_for) {
  start_session();
  start();
  CUpti_ActivityMemory3 memory = {};
  memory.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  memory.bytes = 1000;
  fake::add(memory);
  fake::call_runtime(CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020, fake::context(1));
  stop();
  const Trace trace = stop_and_read();
  EXPECT_EQ(trace.counters.size(), 0u);
  EXPECT_EQ(count_of(trace, "cudaMalloc"), 1u);
}

TEST_F(CudaRecords, work_that_had_not_ended_is_left_out_and_counted) {
  start_session();
  start();
  fake::add(fake::kernel(launch_op(1), kernel_of(1), fake::device_time(), 0));
  fake::add(fake::kernel(launch_op(2), kernel_of(2), 0, 0));
  run_op(3);
  stop();
  const Trace trace = stop_and_read();
  EXPECT_EQ(numbers_of_kernels(trace), std::vector<int>{3});
  EXPECT_EQ(trace.anomalies.count(Anomaly::kUnfinishedDeviceWork), 2u);
}

// ---- The clock ----

// The device's clock runs a tenth faster and is hours ahead; a kernel that runs while its scope is open must stand
// there.
TEST_F(CudaRecords, a_clock_that_drifts_puts_kernels_where_they_ran) {
  static telltale_site round_site = {"round", "", "", "", nullptr, 0, 0, TELLTALE_KIND_SCOPE, 0};
  constexpr int kRounds = 12;
  fake::set_clock(7'200'000'000'000, 100'000);
  start_session();
  start();
  for (int i = 0; i < kRounds; ++i) {
    const fake::Correlation correlation = launch_op(i);
    const telltale_scope scope = telltale_begin(&round_site);
    const std::uint64_t began = fake::device_time();
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    fake::add(fake::kernel(correlation, kernel_of(i), began, fake::device_time()));
    telltale_end(&scope);
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
  }
  stop();
  const Trace trace = stop_and_read();
  EXPECT_EQ(numbers_of_kernels(trace), numbers(0, kRounds));
  const auto rounds = events_named(trace, "round");
  ASSERT_EQ(rounds.size(), static_cast<std::size_t>(kRounds));
  constexpr double kNear = 2e6;  // at the end, the clocks are some 80 ms apart
  for (int i = 0; i < kRounds; ++i) {
    const auto kernels = events_named(trace, kernel_of(i));
    ASSERT_EQ(kernels.size(), 1u);
    const auto round = rounds[static_cast<std::size_t>(i)];
    EXPECT_NEAR(static_cast<double>(trace.events.start[kernels[0]]), static_cast<double>(trace.events.start[round]),
                kNear);
    EXPECT_NEAR(static_cast<double>(trace.events.duration[kernels[0]]),
                static_cast<double>(trace.events.duration[round]), kNear);
  }
  const std::string clock = metadata(trace, "device_clock");
  const std::size_t at = clock.find("\"drift_ppm\":");
  ASSERT_NE(at, std::string::npos) << clock;
  EXPECT_NEAR(std::stod(clock.substr(at + 12)), 100'000, 1000) << clock;
}

// As the device's clock has it, each began 50 µs before it was launched.
void run_early_ops(int count, const char* name = nullptr) {
  constexpr std::uint64_t kEarly = 50'000;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t before = fake::device_time();
    const auto launch = launch_op(i);
    // Where something else ran in between, the launch is later than any clock's error.
    const std::uint64_t after = fake::device_time();
    const bool was_held_up = after - before > kEarly / 2;
    fake::add(
        fake::kernel(launch, name != nullptr ? name : kernel_of(i), was_held_up ? after : before - kEarly, after));
  }
}

void expect_no_kernel_before_its_launch(const Trace& trace) {
  std::size_t early = 0;
  for (EventId event = 0; event < trace.events.size(); ++event)
    if (trace.events.kind[event] == Kind::kKernel && trace.launch_of(event) != kNoEvent)
      early += trace.events.start[event] < trace.events.start[trace.launch_of(event)] ? 1 : 0;
  EXPECT_EQ(early, 0u);
}

TEST_F(CudaRecords, without_a_clock_are_left_out_and_counted) {
  start_session();
  fake::fail("cuptiGetTimestamp", CUPTI_ERROR_UNKNOWN);
  start();
  for (int i = 0; i < 5; ++i) run_op(i);
  stop();
  const Trace trace = stop_and_read();
  EXPECT_EQ(numbers_of_kernels(trace), std::vector<int>{});
  EXPECT_EQ(count_of(trace, "cuLaunchKernel"), 5u);
  EXPECT_EQ(trace.anomalies.count(Anomaly::kUnplacedDeviceWork), 5u);
}

TEST_F(CudaRecords, are_placed_where_the_clock_could_be_read_at_some_of_the_tries) {
  start_session();
  fake::fail("cuptiGetTimestamp", CUPTI_ERROR_UNKNOWN, 2, 7);
  start();
  run_op(0);
  stop();
  const Trace trace = stop_and_read();
  EXPECT_EQ(numbers_of_kernels(trace), std::vector<int>{0});
  EXPECT_EQ(trace.anomalies.count(Anomaly::kUnplacedDeviceWork), 0u);
}

TEST_F(CudaRecords, no_kernel_starts_before_its_launch) {
  start_session();
  start();
  run_early_ops(20);
  stop();
  const Trace trace = stop_and_read();
  EXPECT_EQ(numbers_of_kernels(trace), numbers(0, 20));
  expect_no_kernel_before_its_launch(trace);
}

// As many as four threads launch from one reading to the next.
TEST_F(CudaRecords, no_kernel_starts_before_its_launch_or_is_lost_where_many_are_launched_between_two_readings) {
  constexpr int kLaunches = 100'000;
  start_session();
  start();
  fake::set_late(true);
  run_early_ops(kLaunches, "kernel");
  stop();
  const Trace trace = stop_and_read();
  const auto kernels = events_named(trace, "kernel");
  EXPECT_EQ(kernels.size(), static_cast<std::size_t>(kLaunches));
  EXPECT_TRUE(std::ranges::none_of(kernels, [&](EventId kernel) { return trace.launch_of(kernel) == kNoEvent; }));
  expect_no_kernel_before_its_launch(trace);
}

}  // namespace
}  // namespace telltale::capture
