#include "machine_load.h"

#include <fcntl.h>
#include <sched.h>
#include <telltale/telltale.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace telltale::python {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::string text_of(const char* path) {
  std::string text;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  char buffer[4096];
  for (ssize_t size = 0; (size = read(file, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(size));
  close(file);
  return text;
}

std::int64_t time_on(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * kSecond + time.tv_nsec;
}

std::int64_t nanoseconds_of(long long ticks) { return ticks * (kSecond / sysconf(_SC_CLK_TCK)); }

// The processors that this process may run on, without idling and waiting for input.
std::int64_t time_processors_were_busy() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 0;
  const std::string text = text_of("/proc/stat");
  long long sum = 0;
  for (std::size_t line = text.find("\ncpu"); line != std::string::npos; line = text.find("\ncpu", line + 1)) {
    int processor = 0;
    long long user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, soft_irq = 0, stolen = 0;
    const int found = std::sscanf(text.c_str() + line, " cpu%d %lld %lld %lld %lld %lld %lld %lld %lld", &processor,
                                  &user, &nice, &system, &idle, &waiting, &irq, &soft_irq, &stolen);
    if (found == 9 && processor >= 0 && processor < CPU_SETSIZE && CPU_ISSET(processor, &allowed))
      sum += user + nice + system + irq + soft_irq + stolen;
  }
  return nanoseconds_of(sum);
}

// Of a process: fields 14 and 15, behind a name that may hold anything.
std::int64_t time_process_ran(long pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  const std::string text = text_of(path);
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  long long user = 0, system = 0;
  std::sscanf(text.c_str() + name_end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld", &user, &system);
  return nanoseconds_of(user + system);
}

// Those that the main thread has now.
std::vector<long> children() {
  std::vector<long> found;
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
  const std::string text = text_of(path);
  char* next = nullptr;
  for (const char* at = text.c_str();; at = next) {
    const long pid = std::strtol(at, &next, 10);
    if (next == at) return found;
    found.push_back(pid);
  }
}

// Of this process and its children.
std::int64_t time_of_family(const std::vector<long>& pids) {
  std::int64_t sum = time_on(CLOCK_PROCESS_CPUTIME_ID);
  for (const long pid : pids) sum += time_process_ran(pid);
  return sum;
}

std::int64_t resident_bytes(long pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%ld/statm", pid);
  const std::string text = text_of(path);
  long long total = 0, resident = 0;
  if (std::sscanf(text.c_str(), "%lld %lld", &total, &resident) != 2) return 0;
  return resident * sysconf(_SC_PAGESIZE);
}

void count(const char* name, double value, const char* category = nullptr) {
  telltale_site description = {};
  description.name = name;
  description.category = category;
  description.kind = TELLTALE_KIND_OTHER;
  telltale_counter(telltale_make_site(&description), value);
}

}  // namespace

MachineLoad::MachineLoad()
    : last_time_(time_on(CLOCK_MONOTONIC)),
      last_own_(time_of_family(children())),
      last_busy_(time_processors_were_busy()) {}

void MachineLoad::record() {
  const std::vector<long> pids = children();
  const std::int64_t now = time_on(CLOCK_MONOTONIC), own = time_of_family(pids), busy = time_processors_were_busy();
  const auto passed = static_cast<double>(now - last_time_);
  // A child that ended takes its time along.
  if (passed > 0 && own >= last_own_) {
    count("processors busy", static_cast<double>(busy - last_busy_) / passed);
    count("process processors", static_cast<double>(own - last_own_) / passed);
  }
  count("resident memory", static_cast<double>(resident_bytes(getpid())));
  for (const long pid : pids) record_child(pid);
  last_time_ = now;
  last_own_ = own;
  last_busy_ = busy;
}

// As src/trace/resident_memory.h has it. A program that starts children all the time has no end of them.
void MachineLoad::record_child(long pid) {
  constexpr std::size_t kMost = 256;
  if (!seen_.contains(pid) && seen_.size() >= kMost) return;
  const std::int64_t bytes = resident_bytes(pid);
  if (bytes == 0) return;  // it has ended
  seen_.insert(pid);
  const std::string process = "process " + std::to_string(pid);
  count("resident memory", static_cast<double>(bytes), process.c_str());
}

}  // namespace telltale::python
