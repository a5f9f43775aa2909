#include "record/settings.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

namespace telltale::record {
namespace {

constexpr std::uint64_t kLeastMemory = 16 << 10;
constexpr std::uint32_t kDefaultFlushMs = 25, kMostFlushMs = 60'000;
constexpr double kMostSeconds = 1e9;
constexpr double kNsPerSecond = 1e9;

// What the first version had; no program has less.
constexpr std::size_t kLeastOptions = offsetof(telltale_options, schedule);
constexpr std::size_t kLeastSchedule = offsetof(telltale_schedule, repeat);

// Where "run.tell" is split for something in between; at the end when there is no extension.
std::size_t extension_at(const char* path) {
  const char* slash = strrchr(path, '/');
  const char* name = slash != nullptr ? slash + 1 : path;
  const char* dot = strrchr(name, '.');
  return dot != nullptr && dot != name ? static_cast<std::size_t>(dot - path) : strlen(path);
}

bool insert_number(char (&path)[kMaxPath], unsigned long number) {
  const std::size_t at = extension_at(path);
  char tail[kMaxPath];
  snprintf(tail, sizeof tail, ".%lu%s", number, path + at);
  if (at + strlen(tail) >= kMaxPath) return false;
  strcpy(path + at, tail);
  return true;
}

const char* problem_with(const telltale_options& options) {
  if (options.path == nullptr || options.path[0] == '\0') return "the options name no path";
  if (strlen(options.path) >= kMaxPath - 64) return "the path is too long";
  if (options.memory_limit < kLeastMemory) return "the memory limit is below 16 KiB";
  if (options.policy > TELLTALE_POLICY_BLOCK) return "there is no such policy";
  if (options.fork_mode > TELLTALE_FORK_OWN_FILE) return "there is no such fork mode";
  if (options.flush_ms == 0 || options.flush_ms > kMostFlushMs) return "flush_ms is not between 1 and 60000";
  if (options.schedule != nullptr && options.schedule->active == 0) return "a schedule needs at least one active step";
  if (!(options.flight_seconds >= 0 && options.flight_seconds < kMostSeconds))
    return "flight_seconds is not a duration";
  if (!(options.flight_step_seconds >= 0 && options.flight_step_seconds < kMostSeconds))
    return "flight_step_seconds is not a duration";
  if (options.flight_signal < 0 || options.flight_signal > SIGRTMAX) return "there is no such signal";
  if (options.flight_seconds > 0 && options.schedule != nullptr) return "a flight recorder takes no schedule";
  return nullptr;
}

// Copies a struct of the user's that begins with its size and may be one of an older or a newer program. What an older
// one does not have stays as it is in `into`; what a newer one has beyond ours must not be asked for.
template <typename Struct>
const char* take_struct(const Struct& given, std::size_t least, Struct& into) {
  if (given.size < least)
    return "the size of the options or of the schedule is not set: see telltale_default_options()";
  const auto* bytes = reinterpret_cast<const unsigned char*>(&given);
  for (std::size_t i = sizeof(Struct); i < given.size; ++i)
    if (bytes[i] != 0) return "the program asks for what only a newer version of the recorder knows";
  std::memcpy(&into, &given, given.size < sizeof(Struct) ? given.size : sizeof(Struct));
  return nullptr;
}

}  // namespace

const char* take_options(const telltale_options& given, Settings& settings) {
  telltale_options options;
  telltale_default_options(&options, sizeof options);
  if (const char* problem = take_struct(given, kLeastOptions, options)) return problem;
  telltale_schedule schedule{};
  if (options.schedule != nullptr) {
    if (const char* problem = take_struct(*options.schedule, kLeastSchedule, schedule)) return problem;
    options.schedule = &schedule;
  }
  if (const char* problem = problem_with(options)) return problem;
  strcpy(settings.path, options.path);
  settings.has_schedule = options.schedule != nullptr;
  settings.schedule = schedule;
  settings.memory_limit = options.memory_limit;
  settings.policy = options.flight_seconds > 0 ? Policy::kDropOldest : static_cast<Policy>(options.policy);
  settings.records_in_child = options.fork_mode == TELLTALE_FORK_OWN_FILE;
  settings.flush_ns = std::int64_t{options.flush_ms} * 1'000'000;
  settings.compression = options.compression;
  settings.on_ready = options.on_ready;
  settings.user = options.user;
  settings.flight_ns = static_cast<std::int64_t>(options.flight_seconds * kNsPerSecond);
  settings.flight_step_ns = static_cast<std::int64_t>(options.flight_step_seconds * kNsPerSecond);
  settings.flight_signal = options.flight_signal;
  settings.is_quiet = options.quiet != 0;
  settings.pauses = options.pauses != 0 && options.flight_seconds <= 0;
  settings.on_toggle = options.on_toggle;
  settings.on_warmup = options.on_warmup;
  return nullptr;
}

bool expand_path(const char* pattern, unsigned number, char (&path)[kMaxPath]) {
  std::size_t size = 0;
  bool has_number = false;
  for (const char* at = pattern; *at != '\0'; ++at) {
    char piece[24] = {*at};
    if (at[0] == '%' && at[1] == 'p') {
      snprintf(piece, sizeof piece, "%ld", static_cast<long>(getpid()));
      ++at;
    } else if (at[0] == '%' && at[1] == 'c') {
      snprintf(piece, sizeof piece, "%u", number);
      has_number = true;
      ++at;
    }
    const std::size_t length = strlen(piece);
    if (size + length >= kMaxPath) return false;
    std::memcpy(path + size, piece, length);
    size += length;
  }
  path[size] = '\0';
  return has_number || number == 0 || insert_number(path, number);
}

bool insert_pid(char (&pattern)[kMaxPath]) {
  return strstr(pattern, "%p") != nullptr || insert_number(pattern, static_cast<unsigned long>(getpid()));
}

}  // namespace telltale::record

extern "C" {

void telltale_default_options(telltale_options* options, std::size_t size) {
  telltale_options defaults{};
  defaults.size = size;
  defaults.path = "telltale.tell";
  defaults.memory_limit = telltale::record::kDefaultMemory;
  defaults.flush_ms = telltale::record::kDefaultFlushMs;
  defaults.compression = 1;
  std::memset(options, 0, size);
  std::memcpy(options, &defaults, size < sizeof defaults ? size : sizeof defaults);
}

void telltale_default_schedule(telltale_schedule* schedule, std::size_t size) {
  std::memset(schedule, 0, size);
  schedule->size = size;
}

telltale_action telltale_schedule_action(const telltale_schedule* schedule, std::uint64_t step) {
  if (schedule == nullptr) return TELLTALE_ACTION_RECORD;
  telltale_schedule all{};
  std::memcpy(&all, schedule, schedule->size < sizeof all ? schedule->size : sizeof all);
  if (all.active == 0 || step < all.skip_first) return TELLTALE_ACTION_NONE;
  step -= all.skip_first;
  if (all.skip_first_wait != 0) step += all.wait;
  const std::uint64_t cycle = std::uint64_t{all.wait} + all.warmup + all.active;
  if (all.repeat > 0 && step / cycle >= all.repeat) return TELLTALE_ACTION_NONE;
  const std::uint64_t place = step % cycle;
  if (place < all.wait) return TELLTALE_ACTION_NONE;
  if (place < std::uint64_t{all.wait} + all.warmup) return TELLTALE_ACTION_WARMUP;
  return place < cycle - 1 ? TELLTALE_ACTION_RECORD : TELLTALE_ACTION_RECORD_AND_SAVE;
}

}  // extern "C"
