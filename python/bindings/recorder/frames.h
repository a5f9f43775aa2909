// The calls that a Python thread is in, read from the interpreter's own structures.
//
// Reading takes neither the GIL nor a reference. A thread's own calls stand still while it is in a function of C; those
// of another thread may change while they are read, so that what is read of them is a guess, made without ever touching
// memory that is gone.
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace telltale::python {

struct Frame {
  const void* address = nullptr;  // of the interpreter's frame; the next call may have the same
  PyCodeObject* code = nullptr;
  PyObject* first_local = nullptr;  // `self` in a method
  std::int64_t instruction = 0;     // the offset of the one that runs, in bytes
  PyTypeObject* module = nullptr;  // in the call of a module, its class: another one may have taken its place in memory
  bool operator==(const Frame&) const = default;
};

// Deeper stacks lose their outermost calls.
inline constexpr std::size_t kMostFrames = 256;

// Whether the layout of this interpreter's frames is known. Otherwise nothing below finds any.
bool can_read_frames();

// Of the calling thread, or with the GIL held of any; innermost first. How many there are.
std::size_t read_frames(PyThreadState* thread, std::span<Frame, kMostFrames> frames);
// The innermost of these; empty when there is none.
Frame innermost_frame(PyThreadState* thread);
// One of its first locals, borrowed: `place` counts from `self` in a method, and must be one that the function has.
PyObject* local_of_innermost(PyThreadState* thread, std::size_t place);
// Whether the calling thread is in another call, or at another instruction, than `innermost` says.
bool has_moved(PyThreadState* thread, const Frame& innermost);

// A thread of Python's, as another thread sees it.
struct ThreadView {
  PyThreadState* state = nullptr;
  std::int64_t native_id = 0;  // 0 where the interpreter does not keep it
  const void* innermost = nullptr;
};

// Of the main interpreter. False where the system does not let a process read its own memory this way.
bool look_at_threads(std::vector<ThreadView>& threads);
// As they are now, innermost first; none when they changed too much meanwhile.
std::size_t look_at_frames(const ThreadView& thread, std::span<Frame, kMostFrames> frames);

}  // namespace telltale::python
