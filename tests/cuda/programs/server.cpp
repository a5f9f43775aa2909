// server LAUNCHES [return|exit|_exit|kill|fork|own FILE]: a CUDA program that serves requests, each with a kernel of
// 20 µs, and ends as it is told. Compiled twice: with scopes of its own, and knowing nothing of Telltale.
#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <telltale/telltale.hpp>
#include <thread>

#include "fake_cuda.h"

namespace {

void serve(int requests) {
  for (int i = 0; i < requests; ++i) {
    TELLTALE_SCOPE("request", i);
    const fake::Correlation launch = fake::launch(fake::context(1));
    const std::uint64_t now = fake::device_time();
    fake::add(fake::kernel(launch, "_Z4workPf", now, now + 20'000));
  }
}

}  // namespace

int main(int count, char** words) {
  const int requests = count > 1 ? std::atoi(words[1]) : 1;
  const char* const end = count > 2 ? words[2] : "return";
#ifndef TELLTALE_DISABLED
  if (std::strcmp(end, "own") == 0) {
    telltale_options options;
    telltale_default_options(&options, sizeof options);
    options.path = words[3];
    if (telltale_start(&options) != TELLTALE_STATUS_OK) return 3;
  }
#endif
  if (cuInit(0) != CUDA_SUCCESS) return 2;
  serve(requests);
  if (std::strcmp(end, "exit") == 0) std::exit(0);
  if (std::strcmp(end, "fork") == 0) {
    const pid_t child = fork();
    if (child == 0) std::exit(0);
    waitpid(child, nullptr, 0);
  }
  const bool is_hasty = std::strcmp(end, "_exit") == 0 || std::strcmp(end, "kill") == 0;
  if (is_hasty) std::this_thread::sleep_for(std::chrono::seconds(1));  // ten times as long as what may be lost
  if (std::strcmp(end, "_exit") == 0) _exit(0);
  if (std::strcmp(end, "kill") == 0) raise(SIGKILL);
  if (std::strcmp(end, "seconds") == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    serve(1000);  // nobody is to see this
  }
  return 0;
}
