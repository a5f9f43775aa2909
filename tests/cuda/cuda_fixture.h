// What tests of recording CUDA share: a session with the fake driver and CUPTI, launches that can be told apart, and
// what a recording must say of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "capture/cuda/cuda_capture.h"
#include "fake_cuda.h"
#include "recorded_file.h"

namespace telltale::capture {

class CudaTest : public RecordingTest {
 protected:
  CudaTest();
  ~CudaTest() override;

  static telltale_cuda_options cuda_options();
  // Both must succeed.
  void start_session() const;
  void start(const telltale_cuda_options& options = cuda_options());
  void stop();
  // Ends the session and reads what it wrote.
  Trace stop_and_read();
};

// Launches from inside a scope "op" with that number; on the device, `kernel_of(number)` runs.
fake::Correlation launch_op(int number, CUcontext context = fake::context(1), const std::function<void()>& inside = {});
const char* kernel_of(int number);  // "kernel_12"; lives as long as the process
// Launches and runs it at once.
void run_op(int number);

// Hands over all records and returns when they have been read.
void read_all();

// The number of the scope "op" that a call was made in; -1 when it has none.
int number_around(const Trace& trace, EventId call);

// Numbers of the kernels in the recording that were launched by the call in the scope with their number, in order.
std::vector<int> numbers_of_kernels(const Trace& trace);
std::vector<int> numbers(int first, int count);

// "(none)" where the recording does not have it.
std::string metadata(const Trace& trace, const std::string& name);

}  // namespace telltale::capture
