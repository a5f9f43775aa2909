#include "observed_stacks.h"

#include <Python.h>

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <span>

#include "code_table.h"
#include "frames.h"
#include "stack_texts.h"

namespace telltale::python {
namespace {

bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

class ThreadStack {
 public:
  const StackText* look(PyThreadState* thread, bool is_outermost, std::uint32_t& kept) {
    std::array<Frame, kMostFrames>& frames = buffers_[1 - last_];
    const std::size_t count = read_frames(thread, frames);
    if (count == 0) return nullptr;
    const std::span<const Frame> now = std::span(frames).first(count),
                                 before = std::span(buffers_[last_]).first(count_);
    const bool is_same = text_ != nullptr && std::ranges::equal(now, before);
    if (!is_same) {
      text_ = texts_.find(now);
      if (text_ == nullptr && learn(now)) text_ = texts_.find(now);
      if (text_ == nullptr) return nullptr;
    }
    const std::size_t going_on = is_same ? calls_around_repeated(now, is_outermost) : calls_going_on(before, now);
    kept = going_on == 0 ? 0 : text_->shown[going_on - 1];
    for (std::size_t i = going_on == 0 ? 0 : going_on - 1; i + 1 < count; ++i)
      if (i >= going_on || first_callee_[i] == nullptr) first_callee_[i] = from_outermost(now, i + 1).first_local;
    last_ = 1 - last_;
    count_ = count;
    return text_.get();
  }

  // Leaves all as it was for what look() compares.
  const StackText* look_without_gil(PyThreadState* thread) {
    std::array<Frame, kMostFrames> frames;
    const std::size_t count = read_frames(thread, frames);
    if (count == 0) return nullptr;
    described_ = texts_.find_or_describe(std::span(frames).first(count));
    return described_.get();
  }

  const Frame& innermost() const { return buffers_[last_][0]; }
  bool has_looked() const { return text_ != nullptr; }

 private:
  static bool learn(std::span<const Frame> frames) {
    if (is_finalizing()) return false;
    const PyGILState_STATE state = PyGILState_Ensure();
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);  // an error that is on its way must not get in ours
    bool is_known = false;
    try {
      is_known = code_table().learn(frames.data(), frames.size());
    } catch (const std::exception&) {  // no memory
    }
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
    PyGILState_Release(state);
    return is_known;
  }

  static const Frame& from_outermost(std::span<const Frame> frames, std::size_t i) {
    return frames[frames.size() - 1 - i];
  }

  // How many of the outermost calls are the same as before. A call goes on as long as those around it are where they
  // were. When it is at an earlier place, and no loop leads back there, or when its first local is another and nothing
  // on the way could have set it, it is another call of the same function, and so is each around it that only a loop
  // could have led to the same place again.
  std::size_t calls_going_on(std::span<const Frame> before, std::span<const Frame> now) {
    const std::size_t most = std::min(before.size(), now.size());
    for (std::size_t count = 0; count < most; ++count) {
      const Frame &old_frame = from_outermost(before, count), &new_frame = from_outermost(now, count);
      if (old_frame.address != new_frame.address || old_frame.code != new_frame.code) return count;
      if (old_frame.instruction == new_frame.instruction && old_frame.first_local == new_frame.first_local) continue;
      if (!is_new_call(old_frame, new_frame)) return count + 1;
      const std::size_t around = calls_around_new(before, now, count);
      // A loop over modules that is at its first one again, as nn.Sequential's, is that of another call. Other
      // functions may get the same argument twice, or one at the same place.
      const bool is_loop_begun_again = is_module_call(new_frame) && around == count && count > 0 &&
                                       old_frame.first_local != new_frame.first_local &&
                                       first_callee_[count - 1] == new_frame.first_local;
      return is_loop_begun_again ? calls_around_new(before, now, count - 1) : around;
    }
    return most;
  }

  // Of so many outermost calls around a new one, those that are not new themselves.
  std::size_t calls_around_new(std::span<const Frame> before, std::span<const Frame> now, std::size_t count) {
    while (count > 0 && is_new_call(from_outermost(before, count - 1), from_outermost(now, count - 1))) --count;
    return count;
  }

  // Of calls that all are where they were. An instruction may call several operators, but in the modules of torch.nn
  // nearly all call one: there, the second is that of another call of the module, if a loop could have led to it.
  std::size_t calls_around_repeated(std::span<const Frame> now, bool is_outermost) {
    const CodeInfo* const innermost = texts_.info_of(now.front().code);
    if (!is_outermost || innermost == nullptr || !innermost->file.starts_with("torch/nn/")) return now.size();
    const std::size_t around = calls_around_new(now, now, now.size());
    const auto is_module = [this](const Frame& frame) { return is_module_call(frame); };
    const bool is_module_called_again = std::ranges::any_of(now.first(now.size() - around), is_module);
    return around > 0 && is_module_called_again ? around : now.size();
  }

  bool is_module_call(const Frame& frame) {
    const CodeInfo* const info = texts_.info_of(frame.code);
    return info != nullptr && info->role == FrameRole::kModule;
  }

  bool is_new_call(const Frame& before, const Frame& now) {
    const CodeInfo* const info = texts_.info_of(now.code);
    if (info == nullptr) return false;
    if (before.first_local != now.first_local && !info->may_set_first_local(before.instruction, now.instruction))
      return true;
    return now.instruction <= before.instruction && !info->loops_over(now.instruction, before.instruction);
  }

  std::array<std::array<Frame, kMostFrames>, 2> buffers_;
  std::size_t last_ = 0, count_ = 0;
  std::array<PyObject*, kMostFrames> first_callee_{};  // of each call from the outermost on, by its first argument
  std::shared_ptr<const StackText> text_, described_;
  StackTexts texts_;
};

thread_local bool has_ended = false;

// Null when the thread is about to end.
ThreadStack* stack_of_this_thread() {
  struct Owner {
    ThreadStack* stack = new ThreadStack;
    ~Owner() {
      has_ended = true;
      delete stack;
    }
  };
  if (has_ended) return nullptr;
  thread_local Owner owner;
  return owner.stack;
}

}  // namespace

extern "C" int telltale_python_stack(int is_new, std::uint32_t* stack, std::uint32_t* kept) {
  PyThreadState* const thread = PyGILState_GetThisThreadState();
  if (thread == nullptr) return 0;
  ThreadStack* const own = stack_of_this_thread();
  if (own == nullptr) return 0;
  if (is_new == 0 && own->has_looked() && !has_moved(thread, own->innermost())) return 0;
  const StackText* const text = own->look(thread, is_new != 0, *kept);
  if (text == nullptr) return 0;
  *stack = text->name;
  return 1;
}

extern "C" int telltale_python_stack_without_gil(int, std::uint32_t* stack, std::uint32_t*) try {
  PyThreadState* const thread = PyGILState_GetThisThreadState();
  ThreadStack* const own = thread == nullptr ? nullptr : stack_of_this_thread();
  const StackText* const text = own == nullptr ? nullptr : own->look_without_gil(thread);
  if (text == nullptr) return 0;
  *stack = text->name;
  return 1;
} catch (const std::exception&) {  // no memory
  return 0;
}

}  // namespace telltale::python
