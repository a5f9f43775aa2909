#include "record/active_session.h"

#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <utility>

#include "record/clock.h"
#include "record/emit.h"
#include "record/flight_signal.h"
#include "record/process_hooks.h"
#include "record/recorder_state.h"
#include "record/standard_error.h"
#include "record/step_times.h"
#include "record/thread_state.h"
#include "record/uninterrupted.h"
#include "record/writer.h"

namespace telltale::record {

constinit ActiveSession session;

namespace {

using tell::LossReason;

__attribute__((format(printf, 2, 3))) telltale_status fail(telltale_status status, const char* format, ...) {
  ThreadState* thread = current_thread != nullptr ? current_thread : new_thread();
  if (thread != nullptr) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(thread->error, sizeof thread->error, format, arguments);
    va_end(arguments);
  }
  return status;
}

bool is_recording(telltale_action action) { return action >= TELLTALE_ACTION_RECORD; }

// Of the steps timed after a cycle: enough of them, without making those wait long who wait for the file.
constexpr std::size_t kLeastInTail = 6, kMostInTail = 21;
constexpr std::int64_t kLongestTailNs = 2'000'000'000;

}  // namespace

telltale_status ActiveSession::start(const telltale_options& options) {
  Lock lock(mutex_);
  forks_at_call_ = forks_;
  if (is_ending() && writer.is_writer_thread())
    return fail(TELLTALE_STATUS_IN_CALLBACK, "the session that ends waits for its writer's thread");
  await_last_end();
  if (is_active()) return fail(TELLTALE_STATUS_ALREADY_STARTED, "a session has been started already");
  if (const char* problem = take_options(options, settings_))
    return fail(TELLTALE_STATUS_BAD_OPTIONS, "nothing is recorded: %s", problem);
  settings_.began = ticks_now();
  remember_standard_error();
  forget_last_session();
  enter(Phase::kActive);
  const std::uint64_t turn = ++turn_;
  // Instead of what a forked child would have begun with its first record.
  if (is_to_start_in_child_.exchange(false)) __atomic_store_n(&telltale_recording, 0u, __ATOMIC_RELEASE);
  const telltale_status status = change_to(telltale_schedule_action(settings_.schedule_or_null(), 0));
  if (status != TELLTALE_STATUS_OK) enter(Phase::kNone);
  if (status == TELLTALE_STATUS_OK && settings_.flight_signal != 0) watch_flight_signal(settings_.flight_signal);
  if (turn == turn_) begin_step();
  return status;
}

// The mutex is held, here and below.
void ActiveSession::forget_last_session() {
  std::memset(lost_before_, 0, sizeof lost_before_);
  write_error_ = 0;
  writer.reset_statistics();
  losses.reset();
  memory_budget.begin_session(settings_.memory_limit);
  next_file_ = 0;
  step_ = 0;
  first_recorded_ = 0;
  is_in_tail_ = is_paused_ = false;
  pause_plan_ = {};
  paused_.clear();
  unrecorded_steps.clear();
  action_ = TELLTALE_ACTION_NONE;
}

void ActiveSession::begin_step() {
  step_start_ = ticks_now();
  step_start_ns_ = clock_ns(CLOCK_MONOTONIC);
}

telltale_status ActiveSession::change_to(telltale_action next) {
  if (is_in_tail_ && is_tail_over(next)) end_file(tell::EndReason::kCycleEnded);
  if (action_ == TELLTALE_ACTION_RECORD_AND_SAVE) {
    if (!toggle(false)) return TELLTALE_STATUS_OK;
    if (settings_.pauses && settings_.on_ready == nullptr && next == TELLTALE_ACTION_NONE) {
      __atomic_store_n(&telltale_recording, 0u, __ATOMIC_RELEASE);
      is_in_tail_ = true;
      tail_start_ns_ = clock_ns(CLOCK_MONOTONIC);
      action_ = TELLTALE_ACTION_NONE;
      return TELLTALE_STATUS_OK;
    }
    end_file(tell::EndReason::kCycleEnded);
    action_ = TELLTALE_ACTION_NONE;
    if (const telltale_trace_ready on_ready = settings_.on_ready; on_ready != nullptr) {
      char path[kMaxPath];
      strcpy(path, path_);
      // It may take its time, start a process, or call us.
      if (!without_mutex([&path, on_ready, user = settings_.user] { on_ready(path, user); })) return TELLTALE_STATUS_OK;
    }
  }
  telltale_status status = TELLTALE_STATUS_OK;
  if (action_ == TELLTALE_ACTION_NONE && next != TELLTALE_ACTION_NONE) status = begin_file();
  const bool begins = status == TELLTALE_STATUS_OK && is_recording(next) && !is_recording(action_);
  const bool warms_up = status == TELLTALE_STATUS_OK && next == TELLTALE_ACTION_WARMUP && action_ != next;
  if (status == TELLTALE_STATUS_OK && is_recording(next)) take_records();
  if (begins) first_recorded_ = static_cast<std::int64_t>(step_);
  action_ = status == TELLTALE_STATUS_OK ? next : TELLTALE_ACTION_NONE;
  if (begins && step_ > 0) toggle(true);
  if (const telltale_warming_up on_warmup = settings_.on_warmup; warms_up && on_warmup != nullptr)
    without_mutex([on_warmup, user = settings_.user] { on_warmup(user); });
  return status;
}

bool ActiveSession::is_tail_over(telltale_action next) const {
  const std::size_t timed = unrecorded_steps.count_from(first_recorded_);
  const bool is_long = clock_ns(CLOCK_MONOTONIC) - tail_start_ns_ > kLongestTailNs;
  return next != TELLTALE_ACTION_NONE || timed >= kMostInTail || (timed >= kLeastInTail && is_long);
}

// What the user has us call. Returns whether the session is still where it was.
template <typename Call>
bool ActiveSession::without_mutex(Call call) {
  const std::uint64_t turn = turn_;
  {
    const Unlocked unlocked(mutex_);
    call();
  }
  return turn == turn_;
}

// Tells who feeds the recorder, which may take its time, or stop the session. Returns whether it is still where it was.
bool ActiveSession::toggle(bool is_recording) {
  const telltale_toggled on_toggle = settings_.on_toggle;
  if (on_toggle == nullptr) return true;
  return without_mutex([=, user = settings_.user] { on_toggle(is_recording ? 1 : 0, user); });
}

telltale_status ActiveSession::begin_file() {
  const unsigned number = next_file_++;
  unrecorded_steps.describe_for(static_cast<std::int64_t>(step_) + 1);
  if (!expand_path(settings_.path, number, path_)) return fail(TELLTALE_STATUS_BAD_OPTIONS, "the path is too long");
  int error = ECANCELED;
  {
    // Since the call began, a signal handler may have forked: the file is the parent's.
    const SignalsBlocked blocked;
    if (forks_ == forks_at_call_) error = writer.start(settings_, path_, number);
  }
  if (error == 0) return TELLTALE_STATUS_OK;
  if (writer.lacks_thread())
    return fail(TELLTALE_STATUS_NO_MEMORY, "nothing is recorded: no thread can be started: %s", strerror(error));
  if (error == ENOMEM)
    return fail(TELLTALE_STATUS_NO_MEMORY, "nothing is recorded: no memory for %llu bytes of records",
                static_cast<unsigned long long>(settings_.memory_limit));
  if (error == EBUSY)
    return fail(TELLTALE_STATUS_CANNOT_OPEN, "nothing is recorded: another recording writes to %s", path_);
  return fail(TELLTALE_STATUS_CANNOT_OPEN, "nothing is recorded: cannot write to %s: %s", path_,
              why_not_written(error));
}

void ActiveSession::take_records() { __atomic_store_n(&telltale_recording, 1u, __ATOMIC_RELEASE); }

void ActiveSession::take_no_more_records() {
  // A flight recorder's writer may be reading the text for a dump, and writes no file at the end.
  if (settings_.flight_ns == 0) unrecorded_steps.describe_for(first_recorded_);
  __atomic_store_n(&telltale_recording, 0u, __ATOMIC_RELEASE);
  pool.stop_waiting();
  barrier_on_all_threads();
  pool.wait_until_left();
  pool.collect_from_threads();
}

void ActiveSession::end_file(tell::EndReason reason) {
  is_in_tail_ = false;
  take_no_more_records();
  writer.finish(reason);
  note_losses();
}

void ActiveSession::note_losses() {
  tell_losses();
  if (losses.count(LossReason::kWriteFailed) > 0 || !writer.is_file_whole()) write_error_ = writer.error();
  for (int i = 0; i < tell::kLossReasonCount; ++i) lost_before_[i] += losses.count(static_cast<LossReason>(i));
  losses.reset();
}

// Returns when no stop() is under way.
void ActiveSession::await_last_end() {
  constexpr std::int64_t kBetweenLooksNs = 100'000'000;
  while (is_ending()) has_ended_.wait_for(mutex_, kBetweenLooksNs);
}

void ActiveSession::tell_losses() {
  if (settings_.is_quiet) return;
  const auto tell = [this](LossReason reason, std::uint64_t events) {
    char sentence[kMaxPath + 256];
    if (loss_sentence({reason, events, path_, settings_.memory_limit, writer.error()}, sentence, sizeof sentence))
      say(sentence);
  };
  tell(LossReason::kWriteFailed, losses.count(LossReason::kWriteFailed));
  tell(LossReason::kNewestDropped, losses.count(LossReason::kNewestDropped) + losses.count(LossReason::kOldestDropped));
  tell(LossReason::kInSignal, losses.count(LossReason::kInSignal));
  for (const LossReason reason :
       {LossReason::kTooLarge, LossReason::kGivenUp, LossReason::kValueCut, LossReason::kNameNotKept})
    tell(reason, losses.count(reason));
  if (!writer.is_file_whole() && losses.count(LossReason::kWriteFailed) == 0) {
    char sentence[kMaxPath + 256];
    snprintf(sentence, sizeof sentence, "the end of %s could not be written: %s", path_,
             why_not_written(writer.error()));
    say(sentence);
  }
}

telltale_status ActiveSession::stop(tell::EndReason reason) {
  if (writer.is_writer_thread())
    return fail(TELLTALE_STATUS_IN_CALLBACK, "a session cannot be stopped by its writer's thread");
  char path[kMaxPath] = {};
  telltale_trace_ready on_ready = nullptr;
  void* user = nullptr;
  {
    Lock lock(mutex_);
    await_last_end();  // the file is complete when stop() returns, whoever stopped
    if (!is_active()) return fail(TELLTALE_STATUS_NOT_STARTED, "no session has been started");
    const bool has_file = settings_.flight_ns == 0 && (is_recording(action_) || is_in_tail_);
    finish(reason);
    if (const telltale_status status = outcome(); status != TELLTALE_STATUS_OK) return status;
    if (has_file) {
      strcpy(path, path_);
      on_ready = settings_.on_ready;
      user = settings_.user;
    }
  }
  if (on_ready != nullptr) on_ready(path, user);
  return TELLTALE_STATUS_OK;
}

void ActiveSession::finish(tell::EndReason reason) {
  ++turn_;
  if (settings_.flight_signal != 0) unwatch_flight_signal(settings_.flight_signal);
  if (is_paused_) resume();
  const bool is_warming_up = action_ == TELLTALE_ACTION_WARMUP;
  const bool records = is_recording(action_) || is_in_tail_;
  if (records) take_no_more_records();
  action_ = TELLTALE_ACTION_NONE;
  is_in_tail_ = false;
  enter(Phase::kEnding);
  {
    const Unlocked unlocked(mutex_);
    if (is_warming_up) writer.abandon(path_);
    if (records) writer.finish(reason);
  }
  if (records) note_losses();
  enter(Phase::kNone);
  has_ended_.wake_all();
}

// Of the session that has just ended.
telltale_status ActiveSession::outcome() {
  if (write_error_ == 0) return TELLTALE_STATUS_OK;
  const char* const why = why_not_written(write_error_);
  const std::uint64_t unwritten = lost_before_[static_cast<int>(LossReason::kWriteFailed)];
  if (unwritten == 0) return fail(TELLTALE_STATUS_CANNOT_WRITE, "the end of the file could not be written: %s", why);
  return fail(TELLTALE_STATUS_CANNOT_WRITE, "%llu event%s could not be written: %s",
              static_cast<unsigned long long>(unwritten), unwritten == 1 ? "" : "s", why);
}

telltale_status ActiveSession::step() {
  Lock lock(mutex_);
  forks_at_call_ = forks_;
  if (!is_active()) return fail(TELLTALE_STATUS_NOT_STARTED, "no session has been started");
  const std::uint64_t turn = ++turn_;
  const std::int64_t took_ns = end_step();
  ++step_;
  telltale_status status = TELLTALE_STATUS_OK;
  if (settings_.has_schedule || !settings_.pauses)
    status = change_to(telltale_schedule_action(settings_.schedule_or_null(), step_));
  else if (pause_plan_.end_step(took_ns) == is_paused_)
    change_pause();
  if (turn == turn_) begin_step();
  return status;
}

// Records the step that ends now, or keeps what it took, which it returns.
std::int64_t ActiveSession::end_step() {
  const std::int64_t took_ns = clock_ns(CLOCK_MONOTONIC) - step_start_ns_;
  const std::uint64_t took = ticks_now() - step_start_;
  if (is_paused_) {
    paused_.add(step_start_, took);
  } else if (is_recording(action_)) {
    StepRecord record{{0, tell::RecordType::kStep, 0, sizeof(StepRecord) / kWordBytes},
                      step_start_,
                      took,
                      static_cast<std::int64_t>(step_)};
    emit(sizeof record, [&](unsigned char* at) { store(at, record); });
  } else if (action_ != TELLTALE_ACTION_WARMUP || settings_.on_warmup == nullptr) {
    unrecorded_steps.add(static_cast<std::int64_t>(step_), took_ns);
  }
  if (settings_.flight_step_ns > 0 && took_ns > settings_.flight_step_ns) {
    writer.ask_for_dump();
    pool.wake_writer();
  }
  return took_ns;
}

void ActiveSession::change_pause() {
  const std::int64_t start_ns = clock_ns(CLOCK_MONOTONIC);
  const bool is_to_pause = !is_paused_;
  if (!is_to_pause) resume();
  if (!toggle(!is_to_pause)) return;
  if (is_to_pause) {
    __atomic_store_n(&telltale_recording, 0u, __ATOMIC_RELEASE);
    is_paused_ = true;
  }
  pause_plan_.add_change(clock_ns(CLOCK_MONOTONIC) - start_ns);
}

void ActiveSession::resume() {
  is_paused_ = false;
  take_records();
  paused_.emit_all();
  paused_.clear();
}

telltale_status ActiveSession::flush() {
  if (writer.is_writer_thread()) return fail(TELLTALE_STATUS_IN_CALLBACK, "the writer's thread cannot wait for itself");
  Lock lock(mutex_);
  if (!is_active()) return fail(TELLTALE_STATUS_NOT_STARTED, "no session has been started");
  if (is_recording(action_) && settings_.flight_ns == 0) writer.flush();
  return TELLTALE_STATUS_OK;
}

telltale_fork ActiveSession::set_fork_mode(telltale_fork mode) {
  Lock lock(mutex_);
  const bool recorded = std::exchange(settings_.records_in_child, mode == TELLTALE_FORK_OWN_FILE);
  return recorded ? TELLTALE_FORK_OWN_FILE : TELLTALE_FORK_SILENT;
}

telltale_status ActiveSession::dump(const char* path) {
  if (writer.is_writer_thread()) return fail(TELLTALE_STATUS_IN_CALLBACK, "the writer's thread cannot wait for itself");
  if (path != nullptr && strlen(path) >= kMaxPath) return fail(TELLTALE_STATUS_BAD_OPTIONS, "the path is too long");
  char target[kMaxPath];
  DumpRequest request{path};
  {
    Lock lock(mutex_);
    if (!is_active()) return fail(TELLTALE_STATUS_NOT_STARTED, "no session has been started");
    if (settings_.flight_ns == 0) return fail(TELLTALE_STATUS_NOT_FLIGHT, "only a flight recorder can be dumped");
    strcpy(target, path != nullptr ? path : settings_.path);
    writer.add(request);
  }
  // Without the mutex: the writer tells the user of the file, who may call us.
  const int error = writer.await(request);
  return error == 0 ? TELLTALE_STATUS_OK
                    : fail(TELLTALE_STATUS_CANNOT_WRITE, "cannot write to %s: %s", target, why_not_written(error));
}

void ActiveSession::get_statistics(telltale_statistics& statistics) {
  Lock lock(mutex_);
  const auto lost = [this](LossReason reason) { return lost_before_[static_cast<int>(reason)] + losses.count(reason); };
  statistics = {};
  statistics.recorded = writer.records();
  statistics.dropped_newest = lost(LossReason::kNewestDropped);
  statistics.dropped_oldest = lost(LossReason::kOldestDropped);
  statistics.dropped_in_signal = lost(LossReason::kInSignal);
  statistics.dropped_write_failed = lost(LossReason::kWriteFailed);
  statistics.dropped_too_large = lost(LossReason::kTooLarge);
  statistics.dropped_held_up = lost(LossReason::kGivenUp);
  statistics.dropped = statistics.dropped_newest + statistics.dropped_oldest + statistics.dropped_in_signal +
                       statistics.dropped_write_failed + statistics.dropped_too_large + statistics.dropped_held_up;
  statistics.aged_out = lost(LossReason::kAgedOut);
  statistics.bytes_written = writer.bytes();
  statistics.files = writer.files();
  statistics.peak_memory = memory_budget.peak();
  statistics.writer_cpu_ns = writer.cpu_ns();
  statistics.values_cut = lost(LossReason::kValueCut);
  statistics.open_scopes_not_kept = lost(LossReason::kOpenNotKept);
  statistics.names_not_kept = lost(LossReason::kNameNotKept);
}

void ActiveSession::reset_in_child() {
  mutex_.reset_in_child();
  const bool was_recorded = is_to_start_in_child() || (is_active() && is_recording(action_));
  const bool must_record = was_recorded && settings_.records_in_child;
  if (was_recorded && !must_record && settings_.flight_signal != 0) unwatch_flight_signal(settings_.flight_signal);
  enter(Phase::kNone);
  is_in_tail_ = is_paused_ = false;
  ++turn_;
  ++forks_;
  action_ = TELLTALE_ACTION_NONE;
  is_to_start_in_child_.store(must_record, std::memory_order_release);
  __atomic_store_n(&telltale_recording, must_record ? 1u : 0u, __ATOMIC_RELEASE);
}

bool ActiveSession::start_in_child() {
  // Another thread that starts a session opens a file meanwhile.
  constexpr int kMostLooks = 20'000;
  constexpr timespec kBetweenLooks = {0, 100'000};
  for (int look = 0; look < kMostLooks && is_to_start_in_child(); ++look) {
    if (Lock::is_any_held_by_this_thread() || Uninterrupted::is_this_thread_inside()) return false;
    if (!mutex_.try_lock()) {
      nanosleep(&kBetweenLooks, nullptr);
      continue;
    }
    forks_at_call_ = forks_;
    if (is_to_start_in_child()) {
      ++turn_;
      settings_.has_schedule = settings_.pauses = false;
      forget_last_session();
      begin_step();
      if (insert_pid(settings_.path) && change_to(TELLTALE_ACTION_RECORD) == TELLTALE_STATUS_OK)
        enter(Phase::kActive);
      else
        __atomic_store_n(&telltale_recording, 0u, __ATOMIC_RELEASE);
      is_to_start_in_child_.store(false, std::memory_order_release);
    }
    mutex_.unlock();
  }
  return telltale_is_recording() && !is_to_start_in_child();
}

}  // namespace telltale::record
