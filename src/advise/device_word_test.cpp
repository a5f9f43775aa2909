#include "advise/device_word.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

TEST(DeviceWord, takes_the_place_of_gpu_and_of_nothing_longer) {
  EXPECT_EQ(with_device_word("The GPU waits for 2 GPUs", "device"), "The device waits for 2 devices");
  EXPECT_EQ(with_device_word("GPU memory is full. GPU work waits.", "device"),
            "Device memory is full. Device work waits.");
  EXPECT_EQ(with_device_word("the GPU's own GPUDirect", "device"), "the device's own GPUDirect");
  EXPECT_EQ(with_device_word("one CUDA graph, two CUDA graphs", "device"), "one graph, two graphs");
  EXPECT_EQ(with_device_word("The GPU waits", "GPU"), "The GPU waits");
}

TEST(WordsOfRequests, steps_of_a_server_are_requests_but_in_code) {
  EXPECT_EQ(in_words_of_requests("A step copies 2 times in 5 steps. Use --steps 3 and optimizer.step().", true),
            "A request copies 2 times in 5 requests. Use --steps 3 and optimizer.step().");
  EXPECT_EQ(in_words_of_requests("Each step, stepping", true), "Each request, stepping");
  EXPECT_EQ(in_words_of_requests("A step", false), "A step");
}

}  // namespace
}  // namespace telltale
