#include <gtest/gtest.h>

#include <filesystem>

#include "round_trip.h"
#include "traces_on_disk.h"

namespace telltale {
namespace {

std::vector<std::filesystem::path> traces_in(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(TELLTALE_SOURCE_DIR) / folder))
    if (entry.path().string().ends_with(".json.gz") && !entry.path().string().ends_with("key_averages.json.gz"))
      paths.push_back(entry.path());
  return paths;
}

TEST(KinetoRoundTrip, real_traces_are_read_back_as_they_were) {
  for (const char* folder : {"examples/traces", "tests/diagnosis", "tests/golden/torch"}) {
    for (const std::filesystem::path& path : traces_in(folder)) {
      SCOPED_TRACE(path.filename().string());
      EXPECT_EQ(trouble_of_round_trip(oracle::text_of_file(path)), "");
    }
  }
}

TEST(KinetoRoundTrip, traces_made_to_be_difficult_are_read_back_as_they_were) {
  for (const std::filesystem::path& path : oracle::trap_files()) {
    SCOPED_TRACE(path.filename().string());
    std::string trouble;
    try {
      trouble = trouble_of_round_trip(oracle::bytes_of(path));
    } catch (const std::runtime_error&) {
      continue;  // no trace
    }
    EXPECT_EQ(trouble, "");
  }
}

}  // namespace
}  // namespace telltale
