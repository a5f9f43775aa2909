// What a session says of itself at the start of each of its files, and later what is new.
#pragma once

#include <cstddef>
#include <cstdint>

#include "record/clock.h"
#include "record/mutex.h"
#include "record/names.h"
#include "record/settings.h"
#include "record/step_times.h"
#include "record/tell_file.h"

namespace telltale::record {

class SessionPairs {
 public:
  void describe(const Settings& settings, unsigned number, const Calibration& start, Names& names);
  // What the user wants it to say, and nothing else.
  void describe_metadata(const Names& names);
  const SessionPair* begin() const { return pairs_; }
  std::size_t size() const { return count_; }

 private:
  void add(const char* key, const char* value);
  void add(const char* key, std::int64_t value);
  void add_metadata(const Names& names);

  static constexpr std::size_t kMaxPairs = 96, kMaxNumbers = 16, kNumberBytes = 24;
  SessionPair pairs_[kMaxPairs] = {};
  std::size_t count_ = 0;
  char numbers_[kMaxNumbers][kNumberBytes] = {};
  std::size_t number_count_ = 0;
  char host_[256] = {};
  char steps_[StepTimes::kTextBytes] = {};  // as they were, since the file may repeat what it says at any time
};

// What the user wants every file to say; see telltale_metadata() and telltale_name_process().
// False when there are too many keys.
bool set_metadata(const char* key, const char* value, Names& names);
// How often the user has said something until now: whether there is something new.
std::uint64_t metadata_changes();
void set_process_name(const char* name, Names& names);
Mutex& metadata_mutex_for_fork();

}  // namespace telltale::record
