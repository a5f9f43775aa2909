// How busy the machine and this process are, and how much memory the process has, as counters.
#pragma once

#include <cstdint>

namespace telltale::python {

class MachineLoad {
 public:
  MachineLoad();

  // Emits the counters; those of processors are means since the time before.
  void record();

 private:
  std::int64_t last_time_ = 0, last_own_ = 0, last_busy_ = 0;
};

}  // namespace telltale::python
