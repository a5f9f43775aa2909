#include "analysis/sort_key.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

KeyAverage row(std::string name, std::optional<Nanoseconds> self_cpu_ns) {
  KeyAverage row;
  row.name = std::move(name);
  row.self_cpu_ns = self_cpu_ns;
  return row;
}

std::string names(const std::vector<KeyAverage>& rows) {
  std::string joined;
  for (const KeyAverage& each : rows) joined += each.name;
  return joined;
}

TEST(RowOrder, puts_the_largest_first_and_absent_values_last) {
  std::vector<KeyAverage> rows = {row("a", std::nullopt), row("b", 1), row("c", -5), row("d", 7)};
  sort_rows(rows, SortKey::kSelfCpu);
  EXPECT_EQ(names(rows), "dbca");
}

TEST(RowOrder, breaks_ties_by_name) {
  std::vector<KeyAverage> rows = {row("c", 1), row("a", 1), row("b", 1)};
  sort_rows(rows, SortKey::kSelfCpu);
  EXPECT_EQ(names(rows), "abc");
  sort_rows(rows, SortKey::kFlops);
  EXPECT_EQ(names(rows), "abc");
}

TEST(RowOrder, by_name_goes_from_a_to_z) {
  std::vector<KeyAverage> rows = {row("b", 9), row("a", 1), row("c", 5)};
  sort_rows(rows, SortKey::kName);
  EXPECT_EQ(names(rows), "abc");
}

TEST(RowOrder, takes_every_one_of_our_names) {
  for (const std::string_view name : sort_key_names()) EXPECT_TRUE(sort_key_named(name)) << name;
}

TEST(RowOrder, takes_torch_profilers_names) {
  EXPECT_EQ(sort_key_named("self_cpu_time_total"), SortKey::kSelfCpu);
  EXPECT_EQ(sort_key_named("cpu_time_total"), SortKey::kCpu);
  EXPECT_EQ(sort_key_named("cpu_time"), SortKey::kCpuAverage);
  EXPECT_EQ(sort_key_named("self_cuda_time_total"), SortKey::kSelfDevice);
  EXPECT_EQ(sort_key_named("cuda_time_total"), SortKey::kDevice);
  EXPECT_EQ(sort_key_named("device_time_total"), SortKey::kDevice);
  EXPECT_EQ(sort_key_named("xpu_time"), SortKey::kDeviceAverage);
  EXPECT_EQ(sort_key_named("self_cuda_memory_usage"), SortKey::kSelfDeviceMemory);
  EXPECT_EQ(sort_key_named("count"), SortKey::kCalls);
  EXPECT_EQ(sort_key_named("cuda"), std::nullopt);
  EXPECT_EQ(sort_key_named("speed"), std::nullopt);
}

}  // namespace

}  // namespace telltale
