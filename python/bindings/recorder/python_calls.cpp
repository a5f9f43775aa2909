#include "python_calls.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <telltale/telltale.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "file_names.h"
#include "frames.h"
#include "module_calls.h"
#include "open_scopes.h"

namespace nb = nanobind;

namespace telltale::python {
namespace {

thread_local OpenScopes open_calls;

// All of it under the GIL.
struct CallTracer {
  bool is_active = false;
  CallOptions options;
  std::uint64_t calls = 0;
  // Functions by their code, which is kept alive so that its address stays its own; built-in ones by their C function.
  std::unordered_map<PyObject*, telltale_site*> functions;
  struct BuiltIn {
    const void* function;
    PyTypeObject* type;
    bool operator==(const BuiltIn&) const = default;
  };
  struct BuiltInHash {
    std::size_t operator()(const BuiltIn& key) const {
      return std::hash<const void*>()(key.function) * 31 + std::hash<const void*>()(key.type);
    }
  };
  std::unordered_map<BuiltIn, telltale_site*, BuiltInHash> built_ins;

  void forget() {
    for (const auto& [code, site] : functions) Py_DECREF(code);
    functions.clear();
    built_ins.clear();
  }
};

// Never destroyed: the interpreter may be gone when a destructor runs.
CallTracer& tracer = *new CallTracer;

// Null for our own functions.
telltale_site* describe_function(nb::handle code) {
  const auto file = nb::cast<std::string>(code.attr("co_filename"));
  if (!tracer.options.own_folder.empty() && file.starts_with(tracer.options.own_folder)) return nullptr;
  const auto line = nb::cast<int>(code.attr("co_firstlineno"));
  const auto name = nb::cast<std::string>(code.attr("co_name"));
  const std::string text =
      std::string(without_prefix(file, tracer.options.prefixes)) + "(" + std::to_string(line) + "): " + name;
  return site_named(text.c_str(), TELLTALE_KIND_PYTHON);
}

telltale_site* site_of_function(PyObject* code) {
  const auto found = tracer.functions.find(code);
  if (found != tracer.functions.end()) return found->second;
  constexpr std::size_t kMost = 100'000;  // of a program that makes new code all the time
  if (tracer.functions.size() >= kMost) tracer.forget();
  Py_INCREF(code);
  return tracer.functions[code] = describe_function(code);
}

// As Python shows it, but for the address, which would make a new name of each call.
telltale_site* describe_built_in(nb::handle function) {
  auto text = nb::cast<std::string>(nb::repr(function));
  if (const std::size_t at = text.rfind(" at 0x"); at != std::string::npos) text = text.substr(0, at) + ">";
  return site_named(text.c_str(), TELLTALE_KIND_PYTHON);
}

// Null for callables that are no built-in functions.
telltale_site* site_of_built_in(PyObject* function) {
  if (!PyCFunction_Check(function)) return nullptr;
  PyObject* const self = PyCFunction_GetSelf(function);
  const CallTracer::BuiltIn key = {reinterpret_cast<const void*>(PyCFunction_GetFunction(function)),
                                   self == nullptr ? nullptr : Py_TYPE(self)};
  const auto found = tracer.built_ins.find(key);
  if (found != tracer.built_ins.end()) return found->second;
  return tracer.built_ins[key] = describe_built_in(function);
}

// A call of a function of Python's, which may be that of a module.
bool calls_module(const void* code) { return code == tracer.options.module_call.ptr(); }

void begin_module_of_frame(const void* code) {
  PyThreadState* const thread = PyThreadState_Get();
  const Frame frame = innermost_frame(thread);
  if (static_cast<const void*>(frame.code) != code || frame.first_local == nullptr) return;
  const bool is_told = !tracer.options.on_outermost_module.is_none() && is_next_outermost();
  begin_module(frame.first_local, code);
  if (!is_told) return;
  const nb::handle arguments = local_of_innermost(thread, 1);
  if (arguments.is_valid()) tracer.options.on_outermost_module(nb::handle(frame.first_local), arguments);
}

void remove_hooks();
template <typename Work>
void quietly(Work work);

void begin_call(telltale_site* site, const void* what) {
  if (site == nullptr) return;
  if (++tracer.calls <= tracer.options.budget) {
    open_calls.begin(site, what);
    return;
  }
  remove_hooks();
  const std::string words = "Python calls are not recorded from here on: the budget of " +
                            std::to_string(tracer.options.budget) + " calls is used up; modules still are";
  telltale_instant(site_named(words.c_str(), TELLTALE_KIND_SCOPE), nullptr);
  end_all_modules();
  open_calls.end_all();
  if (!tracer.options.on_end.is_none()) quietly([] { tracer.options.on_end(); });
}

void begin_function(PyObject* code) {
  begin_call(site_of_function(code), code);
  if (tracer.is_active && calls_module(code)) begin_module_of_frame(code);
}

void end_function(const void* code) {
  if (calls_module(code)) end_module(code);
  open_calls.end_if(code);
}

// Describing a function runs Python code, which may fail; the user's program must not notice.
template <typename Work>
void quietly(Work work) {
  try {
    work();
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("telltale");
  } catch (const std::exception&) {  // a name that is no text
  }
}

// The calls that are under way on this thread when recording begins, the outermost first.
void begin_open_calls() {
  std::vector<nb::object> codes;
  nb::object frame = nb::module_::import_("sys").attr("_getframe")(0);
  for (; !frame.is_none(); frame = frame.attr("f_back")) codes.push_back(frame.attr("f_code"));
  for (auto code = codes.rbegin(); code != codes.rend(); ++code) begin_call(site_of_function(code->ptr()), code->ptr());
}

#if PY_VERSION_HEX < 0x030C0000
// ---- Before 3.12: the interpreter's profile function, of each thread ----

int on_event(PyObject*, PyFrameObject* frame, int what, PyObject* argument) {
  if (!tracer.is_active) PyEval_SetProfile(nullptr, nullptr);  // a thread that the end of the recording could not reach
  if (!tracer.is_active || !telltale_is_recording()) return 0;
  switch (what) {
    case PyTrace_CALL: {
      PyCodeObject* const code = PyFrame_GetCode(frame);
      quietly([&] { begin_function(reinterpret_cast<PyObject*>(code)); });
      Py_DECREF(code);
      break;
    }
    case PyTrace_RETURN: {
      PyCodeObject* const code = PyFrame_GetCode(frame);
      end_function(code);
      Py_DECREF(code);
      break;
    }
    case PyTrace_C_CALL:
      quietly([&] { begin_call(site_of_built_in(argument), argument); });
      break;
    case PyTrace_C_RETURN:
    case PyTrace_C_EXCEPTION:
      open_calls.end_if(argument);
      break;
    default:
      break;
  }
  return 0;
}

void watch_this_thread() {
  if (tracer.is_active) PyEval_SetProfile(on_event, nullptr);
}

void add_hooks() {
  nb::module_::import_("threading")
      .attr("setprofile")(nb::module_::import_("telltale._recorder").attr("_watch_thread"));
  watch_this_thread();
}

// Other threads lose theirs at their next call.
void remove_hooks() {
  tracer.is_active = false;
  PyEval_SetProfile(nullptr, nullptr);
  quietly([] { nb::module_::import_("threading").attr("setprofile")(nb::none()); });
}

#else
// ---- From 3.12 on: sys.monitoring ----

constexpr int kTool = 2;  // sys.monitoring.PROFILER_ID

nb::object monitoring() { return nb::module_::import_("sys").attr("monitoring"); }

// The plainest kind of function that Python calls: it takes whatever comes and never raises.
using Arguments = PyObject* const*;

PyObject* on_start(PyObject*, Arguments arguments, Py_ssize_t) {
  if (telltale_is_recording()) quietly([&] { begin_function(arguments[0]); });
  Py_RETURN_NONE;
}

PyObject* on_return(PyObject*, Arguments arguments, Py_ssize_t) {
  end_function(arguments[0]);
  Py_RETURN_NONE;
}

PyObject* on_c_call(PyObject*, Arguments arguments, Py_ssize_t) {
  if (telltale_is_recording()) quietly([&] { begin_call(site_of_built_in(arguments[2]), arguments[2]); });
  Py_RETURN_NONE;
}

PyObject* on_c_return(PyObject*, Arguments arguments, Py_ssize_t) {
  open_calls.end_if(arguments[2]);
  Py_RETURN_NONE;
}

template <PyObject* (*Function)(PyObject*, Arguments, Py_ssize_t)>
nb::object callback() {
  static PyMethodDef method = {"telltale", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(Function)),
                               METH_FASTCALL, nullptr};
  return nb::steal(PyCFunction_New(&method, nullptr));
}

void add_hooks() {
  nb::object tools = monitoring();
  if (!tools.attr("get_tool")(kTool).is_none())
    throw nb::value_error("another profiler uses sys.monitoring; Python calls cannot be recorded beside it");
  tools.attr("use_tool_id")(kTool, "telltale");
  nb::object events = tools.attr("events");
  int wanted = 0;
  const auto watch = [&](const char* event, const nb::object& function) {
    tools.attr("register_callback")(kTool, events.attr(event), function);
    wanted |= nb::cast<int>(events.attr(event));
  };
  for (const char* event : {"PY_START", "PY_RESUME"}) watch(event, callback<on_start>());
  for (const char* event : {"PY_RETURN", "PY_YIELD", "PY_UNWIND"}) watch(event, callback<on_return>());
  watch("CALL", callback<on_c_call>());
  for (const char* event : {"C_RETURN", "C_RAISE"}) watch(event, callback<on_c_return>());
  // The last two come with CALL and cannot be asked for.
  const int with_call = nb::cast<int>(events.attr("C_RETURN")) | nb::cast<int>(events.attr("C_RAISE"));
  tools.attr("set_events")(kTool, wanted & ~with_call);
}

void remove_hooks() {
  tracer.is_active = false;
  quietly([] {
    nb::object tools = monitoring();
    tools.attr("set_events")(kTool, 0);
    tools.attr("free_tool_id")(kTool);
  });
}
#endif

}  // namespace

void start_python_calls(CallOptions options) {
  tracer.options = std::move(options);
  tracer.calls = 0;
  tracer.is_active = true;
  count_recording();  // calls that other threads began before a pause are over
  begin_open_calls();
  add_hooks();
}

std::uint64_t stop_python_calls() {
  if (tracer.is_active) remove_hooks();
  end_all_modules();
  open_calls.end_all();
  tracer.forget();
  tracer.options.module_call = tracer.options.on_end = tracer.options.on_outermost_module = nb::none();
  return std::min(tracer.calls, tracer.options.budget);
}

void bind_python_calls(nb::module_& module) {
  module.def(
      "start_python_calls",
      [](std::vector<std::string> prefixes, std::string own_folder, std::uint64_t budget, nb::object module_call,
         nb::object on_end, nb::object on_outermost_module) {
        start_python_calls({std::move(prefixes), std::move(own_folder), budget, std::move(module_call),
                            std::move(on_end), std::move(on_outermost_module)});
      },
      nb::arg("prefixes"), nb::arg("own_folder"), nb::arg("budget"), nb::arg("module_call").none() = nb::none(),
      nb::arg("on_end").none() = nb::none(), nb::arg("on_outermost_module").none() = nb::none(),
      "Records calls of Python functions, at most so many; calls of module_call, the code of a function whose first "
      "argument is a module, as calls of that as well. on_end is called when there have been too many, "
      "on_outermost_module with each module that no other one calls and its arguments.");
  module.def("stop_python_calls", &stop_python_calls, "Returns how many were recorded.");
#if PY_VERSION_HEX < 0x030C0000
  // What threading.setprofile() gives to new threads.
  module.def("_watch_thread", [](const nb::args&) { watch_this_thread(); });
#endif
}

}  // namespace telltale::python
