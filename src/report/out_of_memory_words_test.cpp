#include "report/out_of_memory_words.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

AllocatorEvent refusal(DeviceId device, std::int64_t bytes, std::uint64_t free) {
  AllocatorEvent entry;
  entry.action = AllocatorAction::kOutOfMemory;
  entry.device = device;
  entry.bytes = bytes;
  entry.address = free;
  return entry;
}

TEST(OutOfMemoryText, says_what_was_asked_for_and_what_there_was) {
  Trace trace;
  EXPECT_EQ(out_of_memory_text(trace), "");
  trace.allocator_events.push_back({});
  EXPECT_EQ(out_of_memory_text(trace), "");
  trace.allocator_events.push_back(refusal(0, std::int64_t{2} << 30, std::uint64_t{512} << 20));
  EXPECT_EQ(out_of_memory_text(trace),
            "memory ran out on GPU 0: 2.00 GiB were asked for, and the device had 512 MiB free");
}

TEST(OutOfMemoryText, tells_of_the_last_of_several) {
  Trace trace;
  trace.allocator_events.push_back(refusal(0, std::int64_t{2} << 30, 0));
  trace.allocator_events.push_back(refusal(kHost, std::int64_t{256} << 20, 0));
  EXPECT_EQ(out_of_memory_text(trace), "memory ran out on the host for the last of 2 times: 256 MiB were asked for");
}

TEST(OutOfMemoryText, rests_on_the_programs_own_error_where_there_is_no_log) {
  Trace trace;
  trace.metadata.push_back({"out_of_memory", R"({"where":"host","error":"MemoryError","message":""})"});
  EXPECT_EQ(out_of_memory_text(trace), "memory ran out on the host");
  trace.metadata[0].second = R"({"where":"device","error":"OutOfMemoryError","message":""})";
  EXPECT_EQ(out_of_memory_text(trace), "memory ran out on the GPU");
}

}  // namespace
}  // namespace telltale
