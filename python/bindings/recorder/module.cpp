// telltale._recorder: the recorder for Python. What it offers is what python/telltale/_capture needs; users have
// telltale.torch and `telltale record`.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <telltale/telltale.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "bindings/gil_released.h"
#include "memory_notes.h"
#include "module_calls.h"
#include "open_scopes.h"
#include "python_calls.h"
#include "sampler.h"

namespace nb = nanobind;

namespace telltale::python {
namespace {

[[noreturn]] void raise_error() { throw std::runtime_error(telltale_error_text()); }

void check(telltale_status status) {
  if (status != TELLTALE_STATUS_OK) raise_error();
}

telltale_schedule schedule_of(const nb::dict& words) {
  telltale_schedule schedule;
  telltale_default_schedule(&schedule, sizeof schedule);
  const auto read = [&](const char* name, std::uint32_t& into) {
    if (words.contains(name)) into = nb::cast<std::uint32_t>(words[name]);
  };
  read("skip_first", schedule.skip_first);
  read("wait", schedule.wait);
  read("warmup", schedule.warmup);
  read("active", schedule.active);
  read("repeat", schedule.repeat);
  read("skip_first_wait", schedule.skip_first_wait);
  return schedule;
}

// What to call, under the GIL; never freed, for steps that end after all else has.
nb::object* toggled = nullptr;
nb::object* warming_up = nullptr;

// Called by whatever thread ends a step, which need not hold the GIL, nor be one of Python's.
template <typename... Arguments>
void call(nb::object* const& callback, Arguments... arguments) {
  if (Py_IsInitialized() == 0) return;
  const nb::gil_scoped_acquire held;
  if (callback == nullptr || callback->is_none()) return;
  try {
    (*callback)(arguments...);
  } catch (nb::python_error& error) {  // the user's program must not notice
    error.discard_as_unraisable("telltale");
  }
}

void on_toggle(int is_recording, void*) { call(toggled, is_recording != 0); }
void on_warmup(void*) { call(warming_up); }

void keep(nb::object*& kept, const nb::object& callback) {
  if (kept == nullptr) kept = new nb::object();
  *kept = callback;
}

void start(const std::string& path, const nb::dict& schedule, std::uint64_t memory_limit, bool own_file_after_fork,
           bool quiet, bool pauses, const nb::object& when_toggled, const nb::object& when_warming_up) {
  telltale_options options;
  telltale_default_options(&options, sizeof options);
  options.path = path.c_str();
  const telltale_schedule steps = schedule_of(schedule);
  if (schedule.size() > 0) options.schedule = &steps;
  if (memory_limit > 0) options.memory_limit = memory_limit;
  options.fork_mode = own_file_after_fork ? TELLTALE_FORK_OWN_FILE : TELLTALE_FORK_SILENT;
  options.quiet = quiet ? 1 : 0;
  options.pauses = pauses ? 1 : 0;
  options.on_toggle = on_toggle;
  options.on_warmup = on_warmup;
  keep(toggled, when_toggled);
  keep(warming_up, when_warming_up);
  const GilReleased released;
  count_recording();
  check(telltale_start(&options));
}

void stop() {
  const GilReleased released;
  check(telltale_stop());
}

nb::dict statistics() {
  telltale_statistics counts;
  telltale_get_statistics(&counts, sizeof counts);
  nb::dict result;
  result["recorded"] = counts.recorded;
  result["dropped"] = counts.dropped;
  result["bytes_written"] = counts.bytes_written;
  result["files"] = counts.files;
  result["peak_memory"] = counts.peak_memory;
  return result;
}

// ---- Scopes ----

thread_local OpenScopes named_scopes;

telltale_kind kind_named(const std::string& kind) {
  if (kind == "annotation") return TELLTALE_KIND_ANNOTATION;
  if (kind == "python") return TELLTALE_KIND_PYTHON;
  if (kind == "scope") return TELLTALE_KIND_SCOPE;
  throw nb::value_error("the kind of a scope is 'annotation', 'python' or 'scope'");
}

void begin_scope(const std::string& name, const std::string& kind) {
  if (telltale_is_recording()) named_scopes.begin(site_named(name.c_str(), kind_named(kind)));
}

}  // namespace
}  // namespace telltale::python

NB_MODULE(_recorder, m) {
  using namespace telltale::python;
  m.doc() = "The recorder: sessions and scopes.";
  m.def("start", &start, nb::arg("path"), nb::kw_only(), nb::arg("schedule") = nb::dict(), nb::arg("memory_limit") = 0,
        nb::arg("own_file_after_fork") = false, nb::arg("quiet") = false, nb::arg("pauses") = false,
        nb::arg("on_toggle") = nb::none(), nb::arg("on_warmup") = nb::none(),
        "Starts a session. A RuntimeError says why it cannot. on_toggle is called with False before steps are left "
        "unrecorded, and with True after they are recorded again; on_warmup when steps begin that warm up.");
  m.def("stop", &stop, "Ends the session; its file is complete then.");
  m.def("step", [] { check(telltale_step()); }, "Ends a step and begins the next one, as the session's schedule says.");
  m.def("is_recording", [] { return telltale_is_recording() != 0; }, "Whether something is recorded now.");
  m.def(
      "set_own_file_after_fork",
      [](bool is_wanted) {
        return telltale_set_fork_mode(is_wanted ? TELLTALE_FORK_OWN_FILE : TELLTALE_FORK_SILENT) ==
               TELLTALE_FORK_OWN_FILE;
      },
      nb::arg("is_wanted"),
      "Whether children that are forked from now on record to files of their own; returns what "
      "held until now.");
  m.def("statistics", &statistics, "How much was recorded and dropped; exact after stop().");
  m.def(
      "metadata",
      [](const std::string& key, const std::string& value) { telltale_metadata(key.c_str(), value.c_str()); },
      nb::arg("key"), nb::arg("value"), "A pair that recordings from now on carry along.");
  m.def("name_process", [](const std::string& name) { telltale_name_process(name.c_str()); }, nb::arg("name"));
  m.def("begin_scope", &begin_scope, nb::arg("name"), nb::arg("kind") = "annotation",
        "Begins a scope of this thread; end_scope() ends the innermost one.");
  m.def("end_scope", [] { named_scopes.end(); });
  m.def(
      "instant",
      [](const std::string& name) { telltale_instant(site_named(name.c_str(), TELLTALE_KIND_SCOPE), nullptr); },
      nb::arg("name"), "A mark.");
  m.def(
      "begin_module", [](nb::handle module) { begin_module(module, module.ptr()); }, nb::arg("module"),
      "A call of an nn.Module begins.");
  m.def("end_module", [](nb::handle module) { end_module(module.ptr()); }, nb::arg("module"));
  m.def("forget_modules", &forget_modules, "Numbers modules anew.");
  bind_memory_notes(m);
  bind_python_calls(m);
  bind_sampler(m);
}
