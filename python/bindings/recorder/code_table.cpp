#include "code_table.h"

#include <nanobind/nanobind.h>
#include <opcode.h>

#include <algorithm>
#include <cstring>

#include "file_names.h"

namespace nb = nanobind;

namespace telltale::python {
namespace {

constexpr std::size_t kMostCodes = 50'000;  // of a program that makes new code all the time
constexpr std::size_t kMostModules = 100'000;

std::int64_t size_of(PyCodeObject* code) {
#if PY_VERSION_HEX < 0x030B0000
  return PyBytes_GET_SIZE(code->co_code);
#else
  return Py_SIZE(code) * 2;
#endif
}

bool jumps_back(int opcode) {
  switch (opcode) {
#ifdef JUMP_BACKWARD
    case JUMP_BACKWARD:
#endif
#ifdef JUMP_BACKWARD_NO_INTERRUPT
    case JUMP_BACKWARD_NO_INTERRUPT:
#endif
#ifdef POP_JUMP_BACKWARD_IF_TRUE
    case POP_JUMP_BACKWARD_IF_TRUE:
    case POP_JUMP_BACKWARD_IF_FALSE:
    case POP_JUMP_BACKWARD_IF_NONE:
    case POP_JUMP_BACKWARD_IF_NOT_NONE:
#endif
#if PY_VERSION_HEX < 0x030B0000  // to places that count from the start
    case JUMP_ABSOLUTE:
    case POP_JUMP_IF_FALSE:
    case POP_JUMP_IF_TRUE:
    case JUMP_IF_FALSE_OR_POP:
    case JUMP_IF_TRUE_OR_POP:
#endif
      return true;
    default:
      return false;
  }
}

// In bytes; `instruction` jumps, two bytes each.
std::int64_t target_of(std::int64_t instruction, std::int64_t argument) {
#if PY_VERSION_HEX < 0x030B0000
  static_cast<void>(instruction);
  return 2 * argument;
#else
  return 2 * (instruction + 1 - argument);
#endif
}

bool has_locals(const PyCodeObject& code) {
#if PY_VERSION_HEX < 0x030B0000
  return code.co_nlocals + PyTuple_GET_SIZE(code.co_cellvars) + PyTuple_GET_SIZE(code.co_freevars) > 0;
#else
  return code.co_nlocalsplus > 0;
#endif
}

bool sets_first_local(int opcode, std::int64_t argument) {
  switch (opcode) {
    case STORE_FAST:
    case DELETE_FAST:
#ifdef LOAD_FAST_AND_CLEAR
    case LOAD_FAST_AND_CLEAR:
#endif
      return argument == 0;
#ifdef STORE_FAST_STORE_FAST  // two locals in one argument, four bits each
    case STORE_FAST_STORE_FAST:
      return argument >> 4 == 0 || (argument & 15) == 0;
#endif
#ifdef STORE_FAST_LOAD_FAST
    case STORE_FAST_LOAD_FAST:
      return argument >> 4 == 0;
#endif
    default:
      return false;
  }
}

void learn_instructions(nb::handle code, CodeInfo& info) {
  info.has_locals = has_locals(*reinterpret_cast<PyCodeObject*>(code.ptr()));
  const nb::object bytes = code.attr("co_code");
  const auto* const text = reinterpret_cast<const unsigned char*>(PyBytes_AsString(bytes.ptr()));
  const std::int64_t count = PyBytes_Size(bytes.ptr()) / 2;
  std::int64_t extended = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const int opcode = text[2 * i];
    const std::int64_t argument = extended << 8 | text[2 * i + 1];
    extended = opcode == EXTENDED_ARG ? argument : 0;
    if (sets_first_local(opcode, argument)) info.sets_of_first_local.push_back(2 * i);
    if (!jumps_back(opcode)) continue;
    if (const std::int64_t target = target_of(i, argument); target < 2 * i) info.loops.emplace_back(target, 2 * i);
  }
}

bool starts_with_any(std::string_view text, const std::vector<std::string>& prefixes) {
  return std::ranges::any_of(prefixes, [&](const std::string& prefix) { return text.starts_with(prefix); });
}

// Frames are joined by ";".
std::string without_separators(std::string text) {
  std::ranges::replace(text, ';', ',');
  return text;
}

void append_utf8(char32_t character, std::string& text) {
  const auto append = [&](char32_t bits) { text += static_cast<char>(bits); };
  const auto append_rest = [&](int shift) { append(0x80 | ((character >> shift) & 0x3F)); };
  if (character < 0x80) {
    append(character);
  } else if (character < 0x800) {
    append(0xC0 | character >> 6);
    append_rest(0);
  } else if (character < 0x10000) {
    append(0xE0 | character >> 12);
    append_rest(6);
    append_rest(0);
  } else {
    append(0xF0 | character >> 18);
    append_rest(12);
    append_rest(6);
    append_rest(0);
  }
}

// Python's own conversion keeps what it has made in the string, which needs the GIL. Names of code never change.
std::string utf8_of(PyObject* text) {
  constexpr char32_t kReplacement = 0xFFFD;  // for bytes of a path that are no text
  std::string utf8;
  for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(text); ++i) {
    const char32_t character = PyUnicode_READ_CHAR(text, i);
    const bool is_surrogate = character >= 0xD800 && character < 0xE000;
    append_utf8(is_surrogate ? kReplacement : character, utf8);
  }
  return utf8;
}

}  // namespace

bool CodeInfo::loops_over(std::int64_t first, std::int64_t last) const {
  return std::ranges::any_of(loops, [&](const auto& loop) { return loop.first <= first && last <= loop.second; });
}

bool CodeInfo::may_set_first_local(std::int64_t from, std::int64_t to) const {
  auto [first, last] = std::minmax({from, to});
  for (bool has_grown = true; has_grown;) {  // as far as loops may lead
    has_grown = false;
    for (const auto& [begin, end] : loops) {
      if (begin > last || end < first || (begin >= first && end <= last)) continue;
      first = std::min(first, begin);
      last = std::max(last, end);
      has_grown = true;
    }
  }
  return !has_locals ||
         std::ranges::any_of(sets_of_first_local, [&](std::int64_t set) { return first <= set && set <= last; });
}

void CodeTable::set_options(CodeOptions options) {
  Py_XINCREF(options.module_call);
  Py_XINCREF(options.around_call);
  const std::lock_guard lock(mutex_);
  module_call_.store(reinterpret_cast<const PyCodeObject*>(options.module_call));
  options_ = std::move(options);
}

const CodeInfo* CodeTable::find(PyCodeObject* code) {
  const std::lock_guard lock(mutex_);
  const auto found = codes_.find(code);
  return found == codes_.end() ? nullptr : found->second.get();
}

std::string CodeTable::module_named(const Frame& call) {
  const std::lock_guard lock(mutex_);
  const auto found = modules_.find({call.first_local, call.module});
  return found == modules_.end() ? std::string() : found->second;
}

CodeInfo CodeTable::described(PyCodeObject* code) {
  const std::string path = utf8_of(code->co_filename);
  const std::lock_guard lock(mutex_);
  const std::string_view shown = without_prefix(path, options_.prefixes);
  CodeInfo info;
  info.file = without_separators(std::string(shown));
  info.function = without_separators(utf8_of(code->co_name));
  info.is_library = path.starts_with('<') || starts_with_any(path, options_.libraries);
  const auto* const object = reinterpret_cast<PyObject*>(code);
  if (object == options_.module_call)
    info.role = FrameRole::kModule;
  else if (object == options_.around_call || path.starts_with("<frozen ") ||
           (!options_.own_folder.empty() && path.starts_with(options_.own_folder)))
    info.role = FrameRole::kHidden;
  else if (info.is_library && shown.starts_with("torch/"))
    info.role = FrameRole::kTorch;
  return info;
}

// As Kineto names modules: the class, and which of its instances it is in the order in which they were first called.
void CodeTable::learn_module(const Frame& call) {
  const std::lock_guard lock(mutex_);
  const std::pair key(call.first_local, call.module);
  if (call.module == nullptr || modules_.contains(key) || modules_.size() >= kMostModules) return;
  const char* const name = call.module->tp_name;
  const char* const dot = std::strrchr(name, '.');
  const std::string class_name = without_separators(dot == nullptr ? name : dot + 1);
  modules_[key] = "nn.Module: " + class_name + "_" + std::to_string(module_counts_[class_name]++);
}

bool CodeTable::learn(const Frame* frames, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    PyCodeObject* const code = frames[i].code;
    const CodeInfo* known = find(code);
    if (known == nullptr) {
      auto info = std::make_unique<CodeInfo>(described(code));
      learn_instructions(reinterpret_cast<PyObject*>(code), *info);  // runs Python code: without the lock
      const std::lock_guard lock(mutex_);
      if (codes_.size() >= kMostCodes) return false;
      const auto [added, is_new] = codes_.try_emplace(code, std::move(info));
      if (is_new) Py_INCREF(code);
      known = added->second.get();
    }
    if (known->role == FrameRole::kModule) learn_module(frames[i]);
  }
  return true;
}

CodeTable& code_table() {
  static auto* const table = new CodeTable;  // for ever: threads may look things up while the process ends
  return *table;
}

int line_of(const Frame& frame) {
  const bool is_within = frame.instruction >= 0 && frame.instruction < size_of(frame.code);
  const int line = PyCode_Addr2Line(frame.code, is_within ? static_cast<int>(frame.instruction) : -1);
  return line > 0 ? line : frame.code->co_firstlineno;
}

}  // namespace telltale::python
