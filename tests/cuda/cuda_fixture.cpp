#include "cuda_fixture.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

namespace telltale::capture {
namespace {

constexpr unsigned kPatienceSeconds = 120;

const telltale_field kNumber = {"number", TELLTALE_FIELD_TYPE_INTEGER, 0};
telltale_site op_site = {"op", "", "", "", &kNumber, 1, 0, TELLTALE_KIND_SCOPE, 0};

std::string path_of_fake() {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(&fake::reset), &info);
  return info.dli_fname;
}

}  // namespace

CudaTest::CudaTest() {
  alarm(kPatienceSeconds);
  const std::string library = path_of_fake();
  setenv("TELLTALE_CUDA_LIBRARY", library.c_str(), 1);
  setenv("TELLTALE_CUPTI_LIBRARY", library.c_str(), 1);
  fake::reset();
}

CudaTest::~CudaTest() {
  stop_cuda();
  alarm(0);
}

telltale_cuda_options CudaTest::cuda_options() { return {sizeof(telltale_cuda_options), 0, 32, nullptr}; }

void CudaTest::start_session() const {
  const telltale_options wanted = options();
  ASSERT_EQ(telltale_start(&wanted), TELLTALE_STATUS_OK) << telltale_error_text();
}

void CudaTest::start(const telltale_cuda_options& options) {
  const Outcome outcome = start_cuda(options);
  ASSERT_EQ(outcome.status, TELLTALE_STATUS_OK) << outcome.error;
}

void CudaTest::stop() {
  const Outcome outcome = stop_cuda();
  EXPECT_EQ(outcome.status, TELLTALE_STATUS_OK) << outcome.error;
}

Trace CudaTest::stop_and_read() {
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK) << telltale_error_text();
  return read_recording(path());
}

fake::Correlation launch_op(int number, CUcontext context, const std::function<void()>& inside) {
  const telltale_scope scope = telltale_begin(&op_site);
  const fake::Correlation correlation = fake::launch(context, inside);
  telltale_value value;
  value.integer = number;
  telltale_end_with(&scope, &value);
  return correlation;
}

const char* kernel_of(int number) {
  static std::mutex mutex;
  static auto* const names = new std::map<int, std::string>;
  const std::lock_guard held(mutex);
  return names->try_emplace(number, "kernel_" + std::to_string(number)).first->second.c_str();
}

void run_op(int number) {
  const fake::Correlation correlation = launch_op(number);
  const std::uint64_t now = fake::device_time();
  fake::add(fake::kernel(correlation, kernel_of(number), now, now + 1000));
}

void read_all() {
  const int before = fake::calls_of("cuptiActivityGetNumDroppedRecords");
  fake::complete_buffers();
  while (fake::calls_of("cuptiActivityGetNumDroppedRecords") == before)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

int number_around(const Trace& trace, EventId call) {
  for (EventId event = trace.events.parent[call]; event != kNoEvent; event = trace.events.parent[event])
    if (trace.name(event) == "op") return static_cast<int>(integer_of(trace, event, "number"));
  return -1;
}

std::vector<int> numbers_of_kernels(const Trace& trace) {
  std::vector<int> found;
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (trace.events.kind[event] != Kind::kKernel) continue;
    const EventId launch = trace.launch_of(event);
    const int number = launch == kNoEvent ? -1 : number_around(trace, launch);
    EXPECT_EQ(trace.name(event), std::string_view(kernel_of(number)));
    found.push_back(number);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<int> numbers(int first, int count) {
  std::vector<int> result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), first);
  return result;
}

std::string metadata(const Trace& trace, const std::string& name) {
  const std::string* value = trace.metadata_named(name);
  return value != nullptr ? *value : "(none)";
}

}  // namespace telltale::capture
