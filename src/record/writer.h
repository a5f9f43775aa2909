// The one thread that takes records from memory to the file.
//
// Wakes when a buffer is full and, at the latest, after the flush period; then everything emitted so far goes to the
// file, so that a process that is killed loses no more than that. As a flight recorder it keeps full buffers instead,
// and writes a file when asked to.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "record/column_encoder.h"
#include "record/session_pairs.h"
#include "record/settings.h"
#include "record/tell_file.h"

namespace telltale::record {

// Somebody waits for a dump, and holds this meanwhile.
struct DumpRequest {
  const char* path;  // null: the session's
  int error = 0;     // an errno, once it is done
  bool is_done = false;
  DumpRequest* next = nullptr;
};

class Writer {
 public:
  // 0 or an errno; the file is open and the thread runs, unless it is a flight recorder, which has no file yet.
  int start(const Settings& settings, const char* path, unsigned number);
  // Whether that was an error of starting the thread.
  bool lacks_thread() const { return lacks_thread_; }
  // No thread emits any more, all buffers are in the queue, and nobody adds requests. Returns when the file, or each
  // dump that somebody asked for, is complete.
  void finish(tell::EndReason reason);
  // Ends without a file: nothing has been recorded yet.
  void abandon(const char* path);

  // Waits until everything emitted before is in the file. No finish() meanwhile.
  void flush();
  // Before finish(); then the request is done, at the latest when that returns.
  void add(DumpRequest& request);
  // Waits for that. 0 or an errno.
  int await(const DumpRequest& request);
  // Asks for a dump without waiting. Signal-safe.
  void ask_for_dump() { is_dump_asked_.store(true, std::memory_order_relaxed); }

  bool is_writer_thread() const { return thread_id_.load(std::memory_order_relaxed) == gettid(); }
  std::uint64_t records() const { return records_.load(std::memory_order_relaxed); }
  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  std::uint64_t cpu_ns() const { return cpu_ns_.load(std::memory_order_relaxed); }
  int error() const { return error_.load(std::memory_order_relaxed); }
  // Whether the end of the last file is in it.
  bool is_file_whole() const { return file_.is_whole(); }
  unsigned files() const { return files_.load(std::memory_order_relaxed); }
  void reset_statistics();

  void reset_in_child();

 private:
  static void* run(void* self);
  void loop();
  void close_down();
  void tell_of_new_metadata();
  void tell_what_is_new();
  void write_full_buffers();
  void write_partial_buffers();
  void write_partial(BufferPool::Partial partial);
  void make_room();
  void write(Buffer& buffer, const unsigned char* begin, const unsigned char* end, std::uint64_t not_before);
  DumpRequest* next_request();
  void write_dumps();
  int write_dump(const char* asked);
  void note_progress();
  int open_file(const char* path, unsigned number);
  std::uint64_t ticks_ago(std::int64_t ns) const;
  void release_memory();

  Settings settings_;
  TellFile file_;
  ColumnEncoder encoder_;
  pthread_t thread_{};
  bool is_running_ = false;
  bool lacks_thread_ = false;
  std::atomic<pid_t> thread_id_ = 0;  // 0: none
  unsigned number_ = 0;               // of the file
  Calibration first_calibration_;

  SessionPairs pairs_, new_pairs_;
  std::uint64_t metadata_described_ = 0, metadata_told_ = 0;  // how many changes pairs_ knows, and the file

  Mutex mutex_;
  Condition done_;
  std::uint64_t flushes_asked_ = 0, flushes_done_ = 0;
  DumpRequest* requests_ = nullptr;  // oldest first
  bool is_finish_asked_ = false, is_abandoned_ = false;
  tell::EndReason end_reason_ = tell::EndReason::kStopped;
  std::atomic<bool> is_dump_asked_ = false;

  std::atomic<std::uint64_t> records_ = 0, bytes_ = 0, cpu_ns_ = 0;
  std::uint64_t records_before_ = 0, bytes_before_ = 0, cpu_before_ = 0;  // of files that are complete
  std::atomic<int> error_ = 0;
  std::atomic<unsigned> files_ = 0;
};

extern Writer writer;

}  // namespace telltale::record
