// One .tell file that is being written: frames chunks, compresses them, keeps the index, and takes back what could not
// be written.
//
// The writer's own; one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "record/clock.h"
#include "record/column_encoder.h"
#include "record/losses.h"
#include "record/names.h"
#include "record/thread_state.h"
#include "tell/layout.h"

namespace telltale::record {

// A pair of the session chunk.
struct SessionPair {
  const char* key;
  const char* value;
};

class TellFile {
 public:
  // Memory for all files of a session. False when there is none.
  bool prepare(int compression);
  void discard();

  // 0 or an errno. A file that could not be opened takes records nevertheless, and counts them as lost.
  int open(const char* path, Losses& losses);
  bool is_open() const { return file_ >= 0; }

  // All of these only gather; commit() writes. Whatever cannot be written is counted in the losses given to open(), and
  // a later commit() tries again with what is new then.

  // What the session says of itself, and when it began, in ticks; the pairs must live as long as the file.
  void set_session(const SessionPair* pairs, std::size_t count, std::uint64_t began);
  // Once more, where it has something new to say.
  void repeat_session() { add_to_session(session_, session_count_); }
  // What the session has to say besides.
  void add_to_session(const SessionPair* pairs, std::size_t count);
  // The names that the file does not have yet.
  void add_names(const Names& names);
  // How many records of a thread are in the file, once what the file must know of the thread is there. add_names()
  // comes before.
  std::uint64_t describe_thread(ThreadState& thread, const Names& names);
  void add_records(ThreadState& thread, const EncodedRecords& records);
  // The scopes open on a thread that began in this session and before that time; nothing when they are the same as the
  // last time.
  void add_open_scopes(ThreadState& thread, std::uint64_t ticks, std::uint64_t begun_before, const Names& names);
  void add_calibration(const Calibration& calibration);
  void add_losses();
  void commit() { write_pending(); }

  // The end, the index and the trailer; closes the file.
  void finish(tell::EndReason reason);
  // Closes the file, and deletes it.
  void remove(const char* path);
  // In a forked child: leaves the file, and whatever the parent's writer was in the middle of, to the parent.
  void leave_to_parent();

  std::uint64_t records() const { return records_; }  // those that are in the file for sure
  std::uint64_t bytes() const { return offset_; }
  int error() const { return error_; }  // the last errno, or 0
  // Whether its end, too, is in the file. After finish().
  bool is_whole() const { return is_whole_; }

 private:
  struct Pending {
    ThreadState* owner;  // of records, else null
    std::uint64_t records;
    std::uint64_t offset;
    std::uint64_t earliest, latest;
    std::uint32_t track;
    tell::ChunkKind kind;
  };
  static constexpr std::size_t kMaxPending = 512;      // chunks between two commits
  static constexpr std::size_t kIndexCapacity = 2048;  // chunks between two index chunks

  void add_chunk(tell::ChunkKind kind, const unsigned char* end_of_scratch);
  void add_chunk(const unsigned char* payload, std::size_t size, Pending about);
  std::size_t store_payload(const unsigned char* payload, std::size_t size, unsigned char* to, tell::Codec& codec);
  void write_pending();
  void take_back();
  // Chunks of that kind with what `put(at, i)` writes of each of the elements [written, count).
  template <typename Put>
  void add_list(tell::ChunkKind kind, std::uint32_t& written, std::uint32_t count, Put put);
  void add_thread(ThreadState& thread, const Names& names);
  void add_index();
  unsigned char* scratch_end() { return scratch_ + kScratchBytes - kScratchMargin; }

  static constexpr std::size_t kScratchBytes = 512 << 10;
  static constexpr std::size_t kScratchMargin = 32 << 10;  // more than the longest single description

  Losses* losses_ = nullptr;
  void* compressor_ = nullptr;
  void* parents_compressor_ = nullptr;  // in whatever state a fork found it: neither used nor freed
  int compression_ = 0;

  unsigned char* output_ = nullptr;  // framed chunks that wait for commit()
  std::size_t output_size_ = 0;
  unsigned char* scratch_ = nullptr;  // a payload being made
  Pending* pending_ = nullptr;        // the chunks in it
  std::size_t pending_count_ = 0;
  Pending* index_ = nullptr;  // chunks in the file since the last index chunk
  std::size_t index_count_ = 0;
  bool is_index_whole_ = true;
  const SessionPair* session_ = nullptr;
  std::size_t session_count_ = 0;
  std::uint64_t session_began_ = 0;

  int file_ = -1;
  int error_ = 0;
  bool is_deleted_ = false;
  bool is_whole_ = true;
  std::uint64_t offset_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t last_index_ = 0;
  std::uint32_t texts_written_ = 0, sites_written_ = 0, tracks_written_ = 0;
  std::uint64_t losses_written_ = 0;
  // What was to describe the records is lost: session, names and threads must be written again.
  bool is_undescribed_ = true;
  // Goes up with each file and each failure, in the life of the process; a thread is described when it has the same
  // number.
  static std::uint64_t last_description;
  std::uint64_t first_description_ = 0;  // of this file
};

}  // namespace telltale::record
