// Lets Python's other threads run while this one does something of its own.
//
// A thread that wants the GIL back while the interpreter goes down does not get it: Python ends the thread by unwinding
// its stack, and C++ that is passed on the way ends the process with an abort. Here such a thread sleeps instead, until
// the process is gone, as all threads do since Python 3.14.
#pragma once

#include <Python.h>
#include <unistd.h>

namespace telltale::python {

class GilReleased {
 public:
  GilReleased() : state_(PyEval_SaveThread()) {}
  ~GilReleased() { take_back(state_); }
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;

 private:
  struct SleepsWhenUnwound {
    bool is_unwound = true;
    ~SleepsWhenUnwound() {
      while (is_unwound) pause();
    }
  };
  // A function of its own: a destructor, from which nothing may be thrown, would abort before it unwinds anything.
  [[gnu::noinline]] static void take_back(PyThreadState* state) {
    SleepsWhenUnwound here;
    PyEval_RestoreThread(state);
    here.is_unwound = false;
  }

  PyThreadState* state_;
};

}  // namespace telltale::python
