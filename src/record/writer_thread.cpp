#include "record/writer_thread.h"

#include <dlfcn.h>

#include <cerrno>
#include <cstddef>

#include "record/uninterrupted.h"

// Not there in programs that are linked statically.
#pragma weak dlsym

namespace telltale::record {
namespace {

constexpr std::size_t kStackBytes = 512 << 10;
constexpr std::size_t kMostStackBytes = std::size_t{1} << 30;

// A thread's stack holds the thread-local variables of the program and its libraries, too, which may be large. The C
// library knows how much they take; it tells Java and Rust by this name.
std::size_t bytes_of_thread_locals(const pthread_attr_t& attributes) {
  using MinStack = std::size_t (*)(const pthread_attr_t*);
  if (dlsym == nullptr) return 0;
  const auto min_stack = reinterpret_cast<MinStack>(dlsym(RTLD_DEFAULT, "__pthread_get_minstack"));
  return min_stack == nullptr ? 0 : min_stack(&attributes);
}

}  // namespace

int start_writer_thread(pthread_t& thread, void* (*run)(void*), void* argument) {
  const SignalsBlocked blocked;  // as the new thread has them
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  std::size_t stack = kStackBytes + bytes_of_thread_locals(attributes);
  int error = EINVAL;
  // EINVAL: it is too small where nobody told how much thread-local variables take.
  for (; error == EINVAL && stack <= kMostStackBytes; stack *= 2) {
    pthread_attr_setstacksize(&attributes, stack);
    error = pthread_create(&thread, &attributes, run, argument);
  }
  pthread_attr_destroy(&attributes);
  return error;
}

}  // namespace telltale::record
