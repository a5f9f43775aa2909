#include "frames.h"

#include <frameobject.h>  // all of a frame, before 3.11
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>
#include <type_traits>

#include "code_table.h"

namespace telltale::python {
namespace {

#if PY_VERSION_HEX >= 0x030E0000
#define TELLTALE_KNOWS_FRAMES 0
#else
#define TELLTALE_KNOWS_FRAMES 1
#endif

#if TELLTALE_KNOWS_FRAMES

#if PY_VERSION_HEX < 0x030B0000
using RawFrame = PyFrameObject;
#elif PY_VERSION_HEX < 0x030C0000
struct RawFrame {
  void *function, *globals, *builtins, *locals;
  PyCodeObject* code;
  void* object;
  const RawFrame* previous;
  const std::uint16_t* instruction;
  int stack_top;
  bool is_entry;
  char owner;
  PyObject* first_local;
};
#else
struct RawFrame {
  PyCodeObject* code;
  const RawFrame* previous;
  void *function, *globals, *builtins, *locals, *object;
  const std::uint16_t* instruction;
  int stack_top;
  std::uint16_t return_offset;
  char owner;
  PyObject* first_local;
};
constexpr char kOwnedByInterpreter = 3;  // no call of Python's: where C called it
#endif

// Memory that is surely there.
struct Here {
  template <typename T>
  bool read(const void* from, T& to) const {
    std::memcpy(&to, from, sizeof to);
    return true;
  }
};

// Memory that another thread may have given back: the kernel looks.
struct Elsewhere {
  template <typename T>
  bool read(const void* from, T& to) const {
    const iovec local = {&to, sizeof to};
    const iovec remote = {const_cast<void*>(from), sizeof to};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(sizeof to);
  }
};

template <typename Memory>
const void* innermost_of(const Memory& memory, const PyThreadState& thread) {
#if PY_VERSION_HEX < 0x030B0000
  static_cast<void>(memory);
  return thread.frame;
#elif PY_VERSION_HEX < 0x030D0000
  _PyCFrame frame = {};
  return thread.cframe != nullptr && memory.read(thread.cframe, frame) ? frame.current_frame : nullptr;
#else
  static_cast<void>(memory);
  return thread.current_frame;
#endif
}

#if PY_VERSION_HEX < 0x030B0000
constexpr std::size_t kFirstLocal = offsetof(PyFrameObject, f_localsplus);
bool is_of_generator(const RawFrame& raw) { return raw.f_gen != nullptr; }
const void* caller_of(const RawFrame& raw) { return raw.f_back; }
bool is_call(const RawFrame&) { return true; }
Frame described(const void* address, const RawFrame& raw) {
  return {address, raw.f_code, raw.f_localsplus[0], std::int64_t{raw.f_lasti} * 2};
}
#else
constexpr std::size_t kFirstLocal = offsetof(RawFrame, first_local);
bool is_of_generator(const RawFrame& raw) {
  constexpr char kOwnedByGenerator = 1;
  return raw.owner == kOwnedByGenerator;
}
const void* caller_of(const RawFrame& raw) { return raw.previous; }
bool is_call([[maybe_unused]] const RawFrame& raw) {
#if PY_VERSION_HEX < 0x030C0000
  return true;
#else
  return raw.owner < kOwnedByInterpreter;
#endif
}
Frame described(const void* address, const RawFrame& raw) {
  const auto* const first = reinterpret_cast<const char*>(raw.code) + offsetof(PyCodeObject, co_code_adaptive);
  return {address, raw.code, raw.first_local, reinterpret_cast<const char*>(raw.instruction) - first};
}
#endif

template <typename Memory>
std::size_t walk(const Memory& memory, const void* address, std::span<Frame, kMostFrames> frames) {
  const PyCodeObject* const module_call = code_table().module_call();
  std::size_t count = 0;
  // A chain that changes while it is read may lead anywhere, even in circles.
  for (std::size_t steps = 0; address != nullptr && count < frames.size() && steps < 2 * kMostFrames; ++steps) {
    RawFrame raw;
    if (!memory.read(address, raw)) return 0;
    if (is_call(raw)) {
      Frame& frame = frames[count++];
      frame = described(address, raw);
      const bool is_module = frame.code == module_call && frame.first_local != nullptr;
      if (is_module && !memory.read(&frame.first_local->ob_type, frame.module)) return 0;
    }
    address = caller_of(raw);
    // Of another thread: something calls a generator that runs, so that this one has yielded meanwhile.
    if (std::is_same_v<Memory, Elsewhere> && address == nullptr && is_of_generator(raw)) return 0;
  }
  return count;
}

#endif

}  // namespace

#if TELLTALE_KNOWS_FRAMES

bool can_read_frames() { return true; }

std::size_t read_frames(PyThreadState* thread, std::span<Frame, kMostFrames> frames) {
  return walk(Here(), innermost_of(Here(), *thread), frames);
}

Frame innermost_frame(PyThreadState* thread) {
  const void* const address = innermost_of(Here(), *thread);
  if (address == nullptr) return {};
  RawFrame raw;
  Here().read(address, raw);
  return described(address, raw);
}

PyObject* local_of_innermost(PyThreadState* thread, std::size_t place) {
  const void* const address = innermost_of(Here(), *thread);
  if (address == nullptr) return nullptr;
  PyObject* local = nullptr;
  Here().read(static_cast<const char*>(address) + kFirstLocal + place * sizeof local, local);
  return local;
}

bool has_moved(PyThreadState* thread, const Frame& innermost) {
  const void* const address = innermost_of(Here(), *thread);
  if (address != innermost.address || address == nullptr) return address != innermost.address;
  RawFrame raw;
  Here().read(address, raw);
  return described(address, raw) != innermost;
}

bool look_at_threads(std::vector<ThreadView>& threads) {
  constexpr std::size_t kMostThreads = 256;
  threads.clear();
  PyThreadState* next = PyInterpreterState_ThreadHead(PyInterpreterState_Main());
  while (next != nullptr && threads.size() < kMostThreads) {
    PyThreadState state;
    if (!Elsewhere().read(next, state)) return !threads.empty();
    ThreadView view = {next, 0, innermost_of(Elsewhere(), state)};
#if PY_VERSION_HEX >= 0x030B0000
    view.native_id = static_cast<std::int64_t>(state.native_thread_id);
#endif
    threads.push_back(view);
    next = state.next;
  }
  return true;
}

std::size_t look_at_frames(const ThreadView& thread, std::span<Frame, kMostFrames> frames) {
  PyThreadState state;
  if (!Elsewhere().read(thread.state, state)) return 0;
  return walk(Elsewhere(), innermost_of(Elsewhere(), state), frames);
}

#else

bool can_read_frames() { return false; }
std::size_t read_frames(PyThreadState*, std::span<Frame, kMostFrames>) { return 0; }
Frame innermost_frame(PyThreadState*) { return {}; }
PyObject* local_of_innermost(PyThreadState*, std::size_t) { return nullptr; }
bool has_moved(PyThreadState*, const Frame&) { return false; }
bool look_at_threads(std::vector<ThreadView>&) { return false; }
std::size_t look_at_frames(const ThreadView&, std::span<Frame, kMostFrames>) { return 0; }

#endif

}  // namespace telltale::python
