// Long work asked for by Python code: runs on a thread of its own without the GIL, while the thread that asked looks
// after signals, so that Ctrl-C raises KeyboardInterrupt at once.
#pragma once

#include <functional>
#include <memory>

namespace telltale::python {

struct LongWork {
  // Must own all that it touches: when it is interrupted, it runs on by itself until it has finished.
  std::function<void()> run;
  // Called with the GIL from the thread that asked, every few hundredths of a second; may throw. May be empty.
  std::function<void()> while_waiting;
  // Called when nobody waits any more, so that the work can end early. May be empty.
  std::function<void()> give_up;
};

// Returns when the work is done. Throws what it threw, or what a signal handler or `while_waiting` raised; in a child
// that one of these forked, telltale.TelltaleError, since the work was left behind. The GIL is held on entry and on
// return.
void run_interruptibly(const LongWork& work);

// To be called once: a child has none of the threads that work in its parent.
void survive_forks();

// Before the process ends: gives work that was interrupted a moment to notice.
void wait_for_interrupted_work();

// The value that `work` returns. `work` must own all that it touches.
template <typename Value>
Value interruptibly(std::function<Value()> work) {
  const auto value = std::make_shared<std::unique_ptr<Value>>();
  run_interruptibly({[value, work = std::move(work)] { *value = std::make_unique<Value>(work()); }, {}, {}});
  return std::move(**value);
}

}  // namespace telltale::python
