// The energy that the processors of this machine have used, as the kernel counts it for each package (RAPL).
//
// AMD's processors are counted the same way, in folders that are called Intel's all the same. Only packages count:
// what else there is (cores, memory, "psys") is part of one, or has one as a part. Most systems let only root read it.
// For one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace telltale::capture {

class RaplEnergy {
 public:
  // Empty when there is no package there that may be read.
  explicit RaplEnergy(const std::string& folder = "/sys/class/powercap");
  ~RaplEnergy();
  RaplEnergy(const RaplEnergy&) = delete;
  RaplEnergy& operator=(const RaplEnergy&) = delete;

  bool is_empty() const { return packages_.empty(); }

  // Joules of all packages since this was made; nothing when none can be read any more. The counters wrap after some
  // minutes to hours: whoever reads once a minute misses nothing.
  std::optional<double> joules();

 private:
  struct Package {
    int file = -1;
    std::uint64_t before = 0;  // microjoules, at the last reading
    std::uint64_t range = 0;   // at which the counter wraps; 0: not known
    std::uint64_t used = 0;    // microjoules since the first
  };

  std::vector<Package> packages_;
};

}  // namespace telltale::capture
