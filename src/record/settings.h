// What a session was asked to do, with texts of its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "record/buffer_pool.h"
#include "telltale/telltale.h"

namespace telltale::record {

inline constexpr std::size_t kMaxPath = 4096;

struct Settings {
  char path[kMaxPath] = {};
  bool has_schedule = false;
  telltale_schedule schedule{};  // where there is one
  std::uint64_t memory_limit = 0;
  Policy policy = Policy::kDropNewest;
  bool records_in_child = false;
  std::int64_t flush_ns = 0;
  int compression = 0;
  telltale_trace_ready on_ready = nullptr;
  void* user = nullptr;
  std::int64_t flight_ns = 0;  // 0: no flight recorder
  std::int64_t flight_step_ns = 0;
  int flight_signal = 0;
  bool is_quiet = false;
  bool pauses = false;
  telltale_toggled on_toggle = nullptr;
  telltale_warming_up on_warmup = nullptr;
  std::uint64_t began = 0;  // ticks: when the session was started, in a forked child that of its parent

  const telltale_schedule* schedule_or_null() const { return has_schedule ? &schedule : nullptr; }
};

// Checks and copies, as much as options.size says that there is. Null, or a sentence that says what is wrong.
const char* take_options(const telltale_options& options, Settings& settings);

// "run.tell", "run.%p.%c.tell" → the name of file `number`; see telltale_options::path. False when it is too long.
bool expand_path(const char* pattern, unsigned number, char (&path)[kMaxPath]);

// "run.tell" → "run.1234.tell", unless the pattern has a %p.
bool insert_pid(char (&pattern)[kMaxPath]);

}  // namespace telltale::record
