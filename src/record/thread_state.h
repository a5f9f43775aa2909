// What the recorder knows of one thread of the host, and how others wait until it has left the recorder, without a cost
// for the thread.
//
// The thread itself writes the first group of members on every record; all others are guarded by the pool's mutex. A
// state is found through one thread-local pointer and lives until its last buffer is written.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

namespace telltale::record {

struct Buffer;

inline constexpr std::uint32_t kMaxOpenScopes = 64;
inline constexpr std::size_t kErrorTextBytes = 256;

struct OpenScope {
  std::atomic<std::uint64_t> start;
  std::atomic<std::uint32_t> site;
};

struct alignas(64) ThreadState {
  // Where the next record goes, and the end of the buffer; both null without a buffer. The writer reads `cursor`.
  std::atomic<unsigned char*> cursor;
  std::atomic<unsigned char*> limit;
  // Not 0 while the thread is inside the recorder: a signal handler that finds it so must not enter, and whoever ends a
  // recording waits for it to pass.
  std::atomic<std::uint32_t> busy;
  std::atomic<std::uint32_t> depth;  // of open scopes; those beyond kMaxOpenScopes are not kept
  OpenScope open[kMaxOpenScopes];

  std::atomic<std::uint32_t> name;  // the number of its text

  ThreadState* next;  // in the list of all threads, or of free states
  Buffer* buffer;
  std::uint32_t track;
  pid_t tid;
  std::uint32_t buffers;  // of this thread's, anywhere: when it is gone, its state can go with the last one
  bool has_exited;
  bool tells_of_its_end;  // else somebody has to look whether it is still there
  // Records in its buffer that were dropped to make room for its own, until they are counted.
  std::atomic<const unsigned char*> uncounted;
  const unsigned char* uncounted_end;
  bool is_given_up;  // was inside for too long when a recording ended, and has not asked for a buffer since

  // The writer's own: what the current file knows of the thread.
  std::uint32_t described_name;
  std::uint64_t described_in;  // see TellFile::last_description
  std::uint64_t records_in_file;
  std::uint64_t open_digest;  // of the open scopes it was last told of

  char error[kErrorTextBytes];  // of the last call that failed
};

// The calling thread's, or null before its first record. initial-exec: a load without a call, safe in signal handlers.
extern constinit thread_local ThreadState* current_thread __attribute__((tls_model("initial-exec")));

// A thread sets `busy`, then looks whether something is recorded; it needs no fence in between, because whoever changes
// that makes all processors pass one: every store before this call is seen by whatever a thread of this process does
// after it. Not for signal handlers.
void barrier_on_all_threads();
// Once, before anything is recorded.
void prepare_barrier();

}  // namespace telltale::record
