// What is known of the code that Python threads run: how its functions are called, where they loop, and which of them
// calls a module.
#pragma once

#include <Python.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frames.h"

namespace telltale::python {

// What becomes of a function's calls in a stack.
enum class FrameRole : std::uint8_t {
  kOwn,     // shown
  kTorch,   // of PyTorch: shown where the user's code calls it, not what it calls in turn
  kModule,  // the call of an nn.Module: shown as that
  kHidden,  // ours, the interpreter's, and what stands around every call of a module
};

struct CodeInfo {
  std::string file, function;
  FrameRole role = FrameRole::kOwn;
  bool is_library = false;                                   // installed, or of the standard library
  std::vector<std::pair<std::int64_t, std::int64_t>> loops;  // the first and the last instruction of each

  bool has_locals = false;
  std::vector<std::int64_t> sets_of_first_local;  // instructions

  bool loops_over(std::int64_t first, std::int64_t last) const;
  // Whether one call may set its first local on the way from one instruction to the other.
  bool may_set_first_local(std::int64_t from, std::int64_t to) const;
};

struct CodeOptions {
  std::vector<std::string> prefixes;   // what names of files are shown without, the longest first
  std::vector<std::string> libraries;  // folders of installed packages and of the standard library
  std::string own_folder;
  PyObject* module_call = nullptr;  // the code of the function that calls a module, whose first argument it is
  PyObject* around_call = nullptr;  // and of the one between it and forward()
};

// Code and modules stay known for ever. Code is also kept alive, so that an address means one thing; a module that
// takes the place of a dead one of its class inherits its number.
class CodeTable {
 public:
  // Under the GIL, before anything is looked up.
  void set_options(CodeOptions options);

  // Of the function that calls a module; null before the options are set.
  const PyCodeObject* module_call() const { return module_call_.load(std::memory_order_relaxed); }

  // Null when it is not known yet.
  const CodeInfo* find(PyCodeObject* code);
  // "nn.Module: Linear_3", "" when it is not known yet.
  std::string module_named(const Frame& call);

  // Under the GIL: all that the frames are about becomes known. False when there is too much of it.
  bool learn(const Frame* frames, std::size_t count);

  // Of code that the calling thread is in, whether it is known or not; but for its loops. Does not need the GIL.
  CodeInfo described(PyCodeObject* code);
  // Of a call that the calling thread is in: its module has a name from here on. Does not need the GIL.
  void learn_module(const Frame& call);

  // Around fork().
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;  // never held while waiting for the GIL
  CodeOptions options_;
  std::atomic<const PyCodeObject*> module_call_ = nullptr;
  std::unordered_map<PyCodeObject*, std::unique_ptr<const CodeInfo>> codes_;
  std::map<std::pair<PyObject*, PyTypeObject*>, std::string> modules_;
  std::unordered_map<std::string, std::uint32_t> module_counts_;
};

CodeTable& code_table();

// The line that runs, for code that is alive.
int line_of(const Frame& frame);

}  // namespace telltale::python
