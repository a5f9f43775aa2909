// What programs in other languages call of it.
#include "fake_cuda.h"

// Launches a kernel by the runtime, which runs for so long.
extern "C" void fake_run_kernel(const char* name, std::uint64_t nanoseconds) {
  const fake::Correlation launch = fake::launch(fake::context(1));
  const std::uint64_t now = fake::device_time();
  fake::add(fake::kernel(launch, name, now, now + nanoseconds));
}
