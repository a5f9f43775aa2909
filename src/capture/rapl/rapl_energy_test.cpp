#include "capture/rapl/rapl_energy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace telltale::capture {
namespace {

// A folder like /sys/class/powercap, whose numbers a test writes.
class RaplEnergyTest : public testing::Test {
 protected:
  RaplEnergyTest() : folder_(testing::TempDir() + "rapl_" + std::to_string(getpid())) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~RaplEnergyTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& zone, const std::string& file, const std::string& text) {
    std::filesystem::create_directories(folder_ + "/" + zone);
    std::ofstream(folder_ + "/" + zone + "/" + file) << text << '\n';
  }
  void write_zone(const std::string& zone, const std::string& name, const std::string& microjoules) {
    write(zone, "name", name);
    write(zone, "max_energy_range_uj", "262143328850");
    write(zone, "energy_uj", microjoules);
  }

  std::string folder_;
};

TEST_F(RaplEnergyTest, joules_are_those_of_all_packages_since_the_first_reading) {
  write_zone("intel-rapl:0", "package-0", "1000000");
  write_zone("intel-rapl:1", "package-1", "7000000");
  RaplEnergy energy(folder_);
  EXPECT_EQ(energy.joules(), 0.0);
  write("intel-rapl:0", "energy_uj", "3500000");
  write("intel-rapl:1", "energy_uj", "8250000");
  EXPECT_EQ(energy.joules(), 2.5 + 1.25);
  EXPECT_EQ(energy.joules(), 3.75);
}

TEST_F(RaplEnergyTest, parts_of_packages_and_other_zones_do_not_count) {
  write_zone("intel-rapl:0", "package-0", "0");
  write_zone("intel-rapl:0:0", "core", "0");
  write_zone("intel-rapl:0:1", "dram", "0");
  write_zone("intel-rapl:1", "psys", "0");
  write_zone("intel-rapl-mmio:0", "package-0", "0");
  RaplEnergy energy(folder_);
  for (const char* zone : {"intel-rapl:0", "intel-rapl:0:0", "intel-rapl:0:1", "intel-rapl:1", "intel-rapl-mmio:0"})
    write(zone, "energy_uj", "4000000");
  EXPECT_EQ(energy.joules(), 4.0);
}

TEST_F(RaplEnergyTest, counter_that_wraps_goes_on) {
  write_zone("intel-rapl:0", "package-0", "262143000000");
  RaplEnergy energy(folder_);
  write("intel-rapl:0", "energy_uj", "671150");  // 328,850 to the end of the range, and 671,150 beyond it
  EXPECT_EQ(energy.joules(), 1.0);
  write("intel-rapl:0", "energy_uj", "1671150");
  EXPECT_EQ(energy.joules(), 2.0);
}

TEST_F(RaplEnergyTest, counter_that_starts_anew_without_a_known_range_adds_nothing) {
  write_zone("intel-rapl:0", "package-0", "9000000");
  std::filesystem::remove(folder_ + "/intel-rapl:0/max_energy_range_uj");
  RaplEnergy energy(folder_);
  write("intel-rapl:0", "energy_uj", "1000000");
  EXPECT_EQ(energy.joules(), 0.0);
  write("intel-rapl:0", "energy_uj", "1500000");
  EXPECT_EQ(energy.joules(), 0.5);
}

TEST_F(RaplEnergyTest, package_that_cannot_be_read_any_more_keeps_what_it_used) {
  write_zone("intel-rapl:0", "package-0", "0");
  write_zone("intel-rapl:1", "package-1", "0");
  RaplEnergy energy(folder_);
  write("intel-rapl:0", "energy_uj", "2000000");
  write("intel-rapl:1", "energy_uj", "1000000");
  EXPECT_EQ(energy.joules(), 3.0);
  write("intel-rapl:0", "energy_uj", "");
  write("intel-rapl:1", "energy_uj", "5000000");
  EXPECT_EQ(energy.joules(), 7.0);
  write("intel-rapl:1", "energy_uj", "");
  EXPECT_EQ(energy.joules(), std::nullopt);
}

TEST_F(RaplEnergyTest, nothing_is_there_without_packages) {
  EXPECT_TRUE(RaplEnergy(folder_ + "/none").is_empty());
  write_zone("intel-rapl:0", "psys", "0");
  write("intel-rapl:1", "name", "package-0");
  write_zone("intel-rapl:2", "package-1", "no number");
  RaplEnergy energy(folder_);
  EXPECT_TRUE(energy.is_empty());
  EXPECT_EQ(energy.joules(), std::nullopt);
}

}  // namespace
}  // namespace telltale::capture
