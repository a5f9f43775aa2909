#include "capture/cuda/toolkits.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace telltale::capture {
namespace {

class Toolkits : public testing::Test {
 protected:
  Toolkits() : root_(testing::TempDir() + "toolkits_" + std::to_string(getpid())) {}
  ~Toolkits() override { std::filesystem::remove_all(root_); }

  void install(const std::string& home) {
    const std::filesystem::path folder = root_ + home + "/extras/CUPTI/lib64";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "libcupti.so.12") << "a library";
  }

  // Where the files were found, without what is the same of all.
  std::vector<std::string> homes_found(int driver_version, std::vector<std::string> named = {}) const {
    std::vector<std::string> homes = toolkit_files("libcupti.so.12", std::move(named), root_, driver_version);
    for (std::string& home : homes) home = home.substr(root_.size(), home.find("/extras") - root_.size());
    return homes;
  }

  std::string root_;
};
using Homes = std::vector<std::string>;

TEST_F(Toolkits, are_tried_newest_first_and_those_that_the_driver_is_too_old_for_last) {
  for (const char* home : {"/usr/local/cuda-12.2", "/usr/local/cuda-12.10", "/usr/local/cuda-12.9",
                           "/usr/local/cuda-12.12", "/usr/local/cuda-12.11", "/usr/local/cuda-12"})
    install(home);
  EXPECT_EQ(homes_found(12100), (Homes{"/usr/local/cuda-12.10", "/usr/local/cuda-12.9", "/usr/local/cuda-12.2",
                                       "/usr/local/cuda-12", "/usr/local/cuda-12.11", "/usr/local/cuda-12.12"}));
}

TEST_F(Toolkits, that_somebody_chose_come_before_all_others) {
  for (const char* home : {"/opt/cuda", "/usr/local/cuda-12.4", "/usr/local/cuda", "/home/me/cuda"}) install(home);
  EXPECT_EQ(homes_found(13000, {root_ + "/home/me/cuda", root_ + "/nowhere"}),
            (Homes{"/home/me/cuda", "/usr/local/cuda", "/usr/local/cuda-12.4", "/opt/cuda"}));
}

TEST_F(Toolkits, may_be_missing) { EXPECT_EQ(homes_found(13000), Homes{}); }

}  // namespace
}  // namespace telltale::capture
