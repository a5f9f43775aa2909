// The one session of a process, while it has one: what the user started, and where in its schedule it is. What
// telltale_start(), telltale_stop() and their like do.
//
// All functions may be called from any thread at any time, but not from a signal handler, and never throw. One mutex
// orders them. It is not held while something of the user's runs, which may call them, nor while stop() waits for the
// writer, who may be running it. Whoever comes back from there looks at the turn: when it is another one, the session
// has moved on, or is over, and belongs to those who moved it.
#pragma once

#include <atomic>

#include "record/mutex.h"
#include "record/pause_plan.h"
#include "record/paused_steps.h"
#include "record/settings.h"
#include "tell/layout.h"

namespace telltale::record {

class ActiveSession {
 public:
  telltale_status start(const telltale_options& options);
  telltale_status stop(tell::EndReason reason);
  telltale_status step();
  telltale_status flush();
  telltale_status dump(const char* path);
  telltale_fork set_fork_mode(telltale_fork mode);
  void get_statistics(telltale_statistics& statistics);
  // Whether there is something to end, or that is ending. For who does not have the mutex.
  bool is_there() const { return phase_.load(std::memory_order_relaxed) != Phase::kNone; }

  // In a forked child: nothing is recorded any more, or nothing yet where the child is to have a file of its own.
  void reset_in_child();
  // Whether that is so: the first record calls start_in_child(), unless the child starts a session of its own before.
  bool is_to_start_in_child() const { return is_to_start_in_child_.load(std::memory_order_acquire); }
  // Signal-safe: a handler that cannot wait for the session's mutex is refused. False when nothing is recorded.
  bool start_in_child();

 private:
  enum class Phase : std::uint8_t { kNone, kActive, kEnding };  // ending: stop() waits for the writer

  bool is_active() const { return phase_.load(std::memory_order_relaxed) == Phase::kActive; }
  bool is_ending() const { return phase_.load(std::memory_order_relaxed) == Phase::kEnding; }
  void enter(Phase phase) { phase_.store(phase, std::memory_order_relaxed); }
  void forget_last_session();
  void begin_step();
  telltale_status begin_file();
  void take_records();
  void await_last_end();
  void take_no_more_records();
  void end_file(tell::EndReason reason);
  void note_losses();
  void finish(tell::EndReason reason);
  telltale_status outcome();
  std::int64_t end_step();
  template <typename Call>
  bool without_mutex(Call call);
  bool toggle(bool is_recording);
  void change_pause();
  void resume();
  bool is_tail_over(telltale_action next) const;
  telltale_status change_to(telltale_action next);
  void tell_losses();

  Mutex mutex_;
  Condition has_ended_;
  std::atomic<Phase> phase_ = Phase::kNone;
  std::uint64_t turn_ = 0;  // goes up with each start, step and stop
  std::atomic<bool> is_to_start_in_child_ = false;
  // How many forks led to this process, and to the one in which the present call began.
  std::uint32_t forks_ = 0, forks_at_call_ = 0;
  Settings settings_;
  telltale_action action_ = TELLTALE_ACTION_NONE;
  std::uint64_t step_ = 0;
  std::uint64_t step_start_ = 0;  // ticks
  std::int64_t step_start_ns_ = 0;
  PausePlan pause_plan_;
  bool is_paused_ = false;
  PausedSteps paused_;               // so far
  std::int64_t first_recorded_ = 0;  // step of the present file
  // After the last step of a cycle, when its file stays open for the times of a few more.
  bool is_in_tail_ = false;
  std::int64_t tail_start_ns_ = 0;
  unsigned next_file_ = 0;
  char path_[kMaxPath] = {};                                // of the present file
  std::uint64_t lost_before_[tell::kLossReasonCount] = {};  // in files that are complete
  int write_error_ = 0;                                     // errno of the last of them that lacks something
};

extern ActiveSession session;

}  // namespace telltale::record
