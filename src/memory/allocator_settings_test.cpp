#include "memory/allocator_settings.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

TEST(AllocatorSettings, are_read_as_pytorch_reads_them) {
  const auto parsed = parse_allocator_settings(
      " expandable_segments:True, max_split_size_mb:128,garbage_collection_threshold:0.6,"
      "roundup_power2_divisions:[256:1,512:2,1024:4,>:8],per_process_memory_fraction:0.25");
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->expandable_segments);
  EXPECT_EQ(parsed->max_split_size, std::int64_t{128} << 20);
  EXPECT_EQ(parsed->garbage_collection_threshold, 0.6);
  EXPECT_EQ(parsed->memory_fraction, 0.25);
  // The first value holds below 256 = 2^8 MiB, too; the last above 1024 = 2^10.
  const std::array<std::int64_t, 16> divisions{1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 8, 8, 8, 8, 8};
  EXPECT_EQ(parsed->roundup_power2_divisions, divisions);
  EXPECT_TRUE(parsed->unknown.empty());
}

TEST(AllocatorSettings, come_back_from_their_text) {
  for (const std::string_view text :
       {"", "expandable_segments:True", "max_split_size_mb:64,max_non_split_rounding_mb:32",
        "garbage_collection_threshold:0.8,per_process_memory_fraction:0.5,roundup_power2_divisions:4",
        "roundup_power2_divisions:[1:2,2:2,4:2,8:2,16:2,32:2,64:2,128:4,256:4,512:4,1024:4,2048:8,4096:8,8192:8,"
        "16384:8,32768:8]"})
    EXPECT_EQ(settings_text(*parse_allocator_settings(text)), text);
}

TEST(AllocatorSettings, that_are_unknown_are_named) {
  const auto parsed = parse_allocator_settings("large_segment_size_mb:40,pinned_num_register_threads:8,backend:native");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->unknown, std::vector<std::string>{"large_segment_size_mb"});
}

TEST(AllocatorSettings, are_read_behind_the_name_of_their_variable) {
  for (const std::string_view name : {"PYTORCH_CUDA_ALLOC_CONF=", "PYTORCH_HIP_ALLOC_CONF=", " PYTORCH_ALLOC_CONF="}) {
    const auto parsed = parse_allocator_settings(std::string(name) + "expandable_segments:True");
    ASSERT_TRUE(parsed);
    EXPECT_TRUE(parsed->expandable_segments) << name;
    EXPECT_TRUE(parsed->unknown.empty()) << name;
  }
}

TEST(AllocatorSettings, are_a_question_where_at_least_one_of_them_is_simulated) {
  for (const std::string_view text : {"expandable_segments:False", "nonsense:1,max_split_size_mb:64", "backend:native",
                                      "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"})
    EXPECT_TRUE(check_question(text)) << text;
  for (const std::string_view text : {"", " , ", "PYTORCH_CUDA_ALLOC_CONF="}) {
    const auto checked = check_question(text);
    ASSERT_FALSE(checked) << text;
    EXPECT_TRUE(checked.error().message.starts_with("no setting is named")) << checked.error().message;
  }
  for (const std::string_view text : {"nonsense:1", "backend:cudaMallocAsync"}) {
    const auto checked = check_question(text);
    ASSERT_FALSE(checked) << text;
    EXPECT_TRUE(
        checked.error().message.starts_with("the simulation knows nothing of " + std::string(text.substr(0, 7))))
        << checked.error().message;
  }
}

TEST(AllocatorSettings, that_make_no_sense_are_refused_with_a_sentence) {
  for (const std::string_view text :
       {"expandable_segments", "expandable_segments:yes", ":", "max_split_size_mb:20", "max_split_size_mb:-5",
        "max_split_size_mb:99999999999999999999", "garbage_collection_threshold:1", "garbage_collection_threshold:nan",
        "roundup_power2_divisions:3", "roundup_power2_divisions:[256:1", "roundup_power2_divisions:[0:1]",
        "roundup_power2_divisions:[256]", "per_process_memory_fraction:0"}) {
    const auto parsed = parse_allocator_settings(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_FALSE(parsed.error().message.empty());
  }
}

TEST(AllocatorSettings, are_found_in_what_a_snapshot_says) {
  Trace trace;
  trace.metadata.push_back(
      {"allocator_settings",
       R"({"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:64,large_segment_size_mb:40", "max_split_size": 67108864,
           "garbage_collection_threshold": 0.5, "expandable_segments": true,
           "roundup_power2_divisions": {"1": 0, "2": 4, "4": 3}})"});
  const AllocatorSettings found = recorded_allocator_settings(trace);
  EXPECT_TRUE(found.expandable_segments);
  EXPECT_EQ(found.max_split_size, 64 << 20);
  EXPECT_EQ(found.garbage_collection_threshold, 0.5);
  EXPECT_EQ(found.roundup_power2_divisions[1], 4);
  EXPECT_EQ(found.roundup_power2_divisions[2], 0);  // 3 is no power of two
  EXPECT_EQ(found.unknown, std::vector<std::string>{"large_segment_size_mb"});

  trace.metadata[0].second = R"({"max_split_size": -1)";  // broken off
  EXPECT_EQ(recorded_allocator_settings(trace), AllocatorSettings{});
  trace.metadata.clear();
  EXPECT_EQ(recorded_allocator_settings(trace), AllocatorSettings{});
}

}  // namespace
}  // namespace telltale
