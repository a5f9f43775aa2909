// How busy the machine and this process are, and how much memory the process and its children have, as counters.
#pragma once

#include <cstdint>
#include <set>

namespace telltale::python {

class MachineLoad {
 public:
  MachineLoad();

  // Emits the counters; those of processors are means since the time before.
  void record();

 private:
  void record_child(long pid);

  std::int64_t last_time_ = 0, last_own_ = 0, last_busy_ = 0;
  std::set<long> seen_;  // children
};

}  // namespace telltale::python
