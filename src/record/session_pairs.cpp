#include "record/session_pairs.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "record/uninterrupted.h"

namespace telltale::record {
namespace {

constexpr std::size_t kMaxMetadata = 64;
constexpr std::size_t kMaxKeyBytes = 256;

struct Metadata {
  std::uint32_t key, value;  // numbers of texts
};

constinit Mutex mutex;
constinit Metadata metadata[kMaxMetadata] = {};
constinit std::size_t metadata_count = 0;
constinit std::atomic<std::uint64_t> change_count = 0;
constinit std::uint32_t process_name_text = 0;

const char* text_of(std::uint32_t number, const Names& names) {
  return number == 0 ? "" : names.texts()[number - 1].data;
}

const char* process_name(const Names& names) {
  const UninterruptedLock lock(mutex);
  return process_name_text != 0 ? text_of(process_name_text, names) : program_invocation_short_name;
}

const char* name_of(Policy policy) {
  switch (policy) {
    case Policy::kDropOldest:
      return "drop oldest";
    case Policy::kBlock:
      return "block";
    case Policy::kDropNewest:
      break;
  }
  return "drop newest";
}

}  // namespace

void SessionPairs::add(const char* key, const char* value) {
  if (count_ < kMaxPairs) pairs_[count_++] = {key, value};
}

void SessionPairs::add(const char* key, std::int64_t value) {
  if (number_count_ == kMaxNumbers) return;
  char* text = numbers_[number_count_++];
  snprintf(text, kNumberBytes, "%lld", static_cast<long long>(value));
  add(key, text);
}

void SessionPairs::describe(const Settings& settings, unsigned number, const Calibration& start, Names& names) {
  count_ = number_count_ = 0;
  gethostname(host_, sizeof host_ - 1);
  add("version", telltale_version());
  add("pid", getpid());
  add("process", process_name(names));
  add("host", host_);
  add("clock", uses_tsc ? "tsc" : "monotonic");
  add("ticks_per_second", ticks_per_second());
  add("epoch_ns", start.realtime_ns);
  add("start_ns", start.monotonic_ns);
  add("flush_ns", settings.flush_ns);
  add("memory_limit", static_cast<std::int64_t>(settings.memory_limit));
  add("policy", name_of(settings.policy));
  add("mode", settings.flight_ns > 0 ? "flight" : "stream");
  add("cycle", number);
  strcpy(steps_, unrecorded_steps.text());
  if (steps_[0] != '\0') add("unrecorded_steps", steps_);
  add_metadata(names);
}

void SessionPairs::describe_metadata(const Names& names) {
  count_ = number_count_ = 0;
  add_metadata(names);
}

void SessionPairs::add_metadata(const Names& names) {
  const UninterruptedLock lock(mutex);
  for (std::size_t i = 0; i < metadata_count; ++i)
    add(text_of(metadata[i].key, names), text_of(metadata[i].value, names));
}

bool set_metadata(const char* key, const char* value, Names& names) {
  char prefixed[kMaxKeyBytes];
  snprintf(prefixed, sizeof prefixed, "meta:%s", key);
  const Metadata pair{names.intern(prefixed), names.intern(value)};
  if (pair.key == 0) return true;  // counted by the names
  const UninterruptedLock lock(mutex);
  change_count.fetch_add(1, std::memory_order_relaxed);
  for (std::size_t i = 0; i < metadata_count; ++i) {
    if (metadata[i].key != pair.key) continue;
    metadata[i].value = pair.value;
    return true;
  }
  if (metadata_count == kMaxMetadata) return false;
  metadata[metadata_count++] = pair;
  return true;
}

std::uint64_t metadata_changes() { return change_count.load(std::memory_order_relaxed); }

void set_process_name(const char* name, Names& names) {
  const std::uint32_t number = names.intern(name);
  const UninterruptedLock lock(mutex);
  process_name_text = number;
}

Mutex& metadata_mutex_for_fork() { return mutex; }

}  // namespace telltale::record
