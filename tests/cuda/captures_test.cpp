// Streams that are captured into graphs when CUPTI comes or goes: nobody waits for the device then, and none is missed.
#include <atomic>

#include "cuda_fixture.h"

namespace telltale::capture {
namespace {

using CudaCaptures = CudaTest;

TEST_F(CudaCaptures, nothing_is_waited_for_while_a_stream_is_captured) {
  start_session();
  start();
  run_op(0);
  // One that fails captures nothing.
  fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, fake::context(1),
                    {.result = CUDA_ERROR_INVALID_VALUE});
  stop();
  const int waits = fake::calls_of("cuCtxSynchronize");
  EXPECT_GT(waits, 0);
  start();
  run_op(1);
  fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, fake::context(1));
  const int finalized = fake::calls_of("cuptiFinalize");
  stop_cuda();
  start();
  run_op(2);
  stop_cuda();  // the capture goes on
  EXPECT_EQ(fake::calls_of("cuCtxSynchronize"), waits);
  EXPECT_EQ(fake::calls_of("cuptiFinalize"), finalized);
  fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture,
                    fake::context(1));  // also seen while nothing is recorded
  stop_cuda();
  EXPECT_GT(fake::calls_of("cuCtxSynchronize"), waits);
  EXPECT_EQ(fake::calls_of("cuptiFinalize"), finalized + 1);
  EXPECT_EQ(numbers_of_kernels(stop_and_read()), numbers(0, 3));
}

TEST_F(CudaCaptures, nothing_is_waited_for_while_a_capture_goes_on_that_began_before_the_recording) {
  ASSERT_EQ(watch_cuda_graphs(cuda_options()).status, TELLTALE_STATUS_OK);
  fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, fake::context(1));
  start_session();
  start();
  run_op(0);
  stop_cuda();
  EXPECT_EQ(fake::calls_of("cuCtxSynchronize"), 0);
  fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, fake::context(1));
  stop_cuda();
  EXPECT_EQ(fake::calls_of("cuptiFinalize"), 1);
  EXPECT_EQ(numbers_of_kernels(stop_and_read()), numbers(0, 1));
}

TEST_F(CudaCaptures, a_capture_ends_with_its_stream) {
  CUstream captured = fake::stream(7), other = fake::stream(8);
  start_session();
  start();
  fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, fake::context(1), {.parameters = &captured});
  fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamDestroy_v2, fake::context(1), {.parameters = &other});
  run_op(0);
  stop_cuda();
  EXPECT_EQ(fake::calls_of("cuptiFinalize"), 0) << "the capture goes on";
  fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamDestroy_v2, fake::context(1),
                    {.parameters = &captured, .result = CUDA_ERROR_INVALID_VALUE});
  stop_cuda();
  EXPECT_EQ(fake::calls_of("cuptiFinalize"), 0) << "it was not destroyed";
  fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamDestroy_v2, fake::context(1), {.parameters = &captured});
  stop_cuda();
  EXPECT_EQ(fake::calls_of("cuptiFinalize"), 1);
  EXPECT_EQ(numbers_of_kernels(stop_and_read()), numbers(0, 1));
}

TEST_F(CudaCaptures, a_capture_that_ends_while_all_else_is_turned_off_is_seen_to_end) {
  start_session();
  start();
  run_op(0);
  fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, fake::context(1));
  int calls = 0;
  fake::on_entering("cuptiEnableCallback", [&] {
    if (calls++ == 0) fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, fake::context(1));
  });
  stop_cuda();
  EXPECT_GT(calls, 0);
  EXPECT_EQ(fake::calls_of("cuptiFinalize"), 0);
  stop_cuda();
  EXPECT_EQ(fake::calls_of("cuptiFinalize"), 1);
  EXPECT_EQ(numbers_of_kernels(stop_and_read()), numbers(0, 1));
}

TEST_F(CudaCaptures, a_capture_that_ends_while_it_comes_is_seen_to_end_if_it_was_seen_to_begin) {
  fake::on_entering("cuptiEnableCallback", [] {
    fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, fake::context(1));
    fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, fake::context(1));
  });
  start_session();
  start();
  run_op(0);
  stop();
  EXPECT_EQ(fake::calls_of("cuptiFinalize"), 1);
  EXPECT_EQ(numbers_of_kernels(stop_and_read()), numbers(0, 1));
}

TEST_F(CudaCaptures, a_capture_that_begins_while_it_goes_keeps_it) {
  start_session();
  start();
  run_op(0);
  std::atomic<bool> has_begun = false;
  fake::on_entering("cuptiActivityFlushAll", [&] {
    if (fake::calls_of("cuCtxSynchronize") < 2 || has_begun.exchange(true)) return;
    fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, fake::context(1));
  });
  stop_cuda();
  EXPECT_TRUE(has_begun);
  EXPECT_EQ(fake::calls_of("cuptiFinalize"), 0);
  fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, fake::context(1));
  stop_cuda();
  EXPECT_EQ(fake::calls_of("cuptiFinalize"), 1);
  EXPECT_EQ(numbers_of_kernels(stop_and_read()), numbers(0, 1));
}

// Between the last look at captures and the moment from which nobody sees them.
TEST_F(CudaCaptures, a_capture_that_begins_while_it_goes_is_not_held_to_go_on_for_ever) {
  start_session();
  start();
  run_op(0);
  fake::on_entering("cuptiUnsubscribe",
                    [] { fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, fake::context(1)); });
  stop_cuda();
  fake::on_entering("cuptiUnsubscribe", [] {});
  fake::call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, fake::context(1));
  const int finalized = fake::calls_of("cuptiFinalize");
  start();
  run_op(1);
  stop();
  EXPECT_EQ(fake::calls_of("cuptiFinalize"), finalized + 1);
  EXPECT_EQ(numbers_of_kernels(stop_and_read()), numbers(0, 2));
}

}  // namespace
}  // namespace telltale::capture
