// telltale._recorder: the recorder for Python. What it offers is what python/telltale/_capture needs; users have
// telltale.torch and `telltale record`.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <telltale/telltale.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <unordered_map>

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

nb::object* toggled = nullptr;  // what to call, under the GIL; never freed, for steps that end after all else has

// Called by whatever thread ends a step, which need not hold the GIL, nor be one of Python's.
void on_toggle(int is_recording, void*) {
  if (Py_IsInitialized() == 0) return;
  const nb::gil_scoped_acquire held;
  if (toggled == nullptr || toggled->is_none()) return;
  try {
    (*toggled)(is_recording != 0);
  } catch (nb::python_error& error) {  // the user's program must not notice
    error.discard_as_unraisable("telltale");
  }
}

void start(const std::string& path, const nb::dict& schedule, std::uint64_t memory_limit, bool own_file_after_fork,
           bool quiet, bool pauses, const nb::object& when_toggled) {
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
  if (toggled == nullptr) toggled = new nb::object();
  *toggled = when_toggled;
  const nb::gil_scoped_release released;
  count_recording();
  check(telltale_start(&options));
}

void stop() {
  const nb::gil_scoped_release released;
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
thread_local OpenScopes module_scopes;

telltale_kind kind_named(const std::string& kind) {
  if (kind == "annotation") return TELLTALE_KIND_ANNOTATION;
  if (kind == "python") return TELLTALE_KIND_PYTHON;
  if (kind == "scope") return TELLTALE_KIND_SCOPE;
  throw nb::value_error("the kind of a scope is 'annotation', 'python' or 'scope'");
}

void begin_scope(const std::string& name, const std::string& kind) {
  if (telltale_is_recording()) named_scopes.begin(site_named(name.c_str(), kind_named(kind)));
}

// As Kineto names modules: the class, and which of its instances it is in the order in which they were first called.
// Modules are known by their address and never kept alive; one that takes the place of a dead one inherits its number.
class ModuleSites {
 public:
  telltale_site* find(nb::handle module) {
    const auto key = std::pair(module.ptr(), static_cast<void*>(module.type().ptr()));
    const auto found = sites_.find(key);
    if (found != sites_.end()) return found->second;
    const auto class_name = nb::cast<std::string>(module.type().attr("__name__"));
    const std::string name = "nn.Module: " + class_name + "_" + std::to_string(counts_[class_name]++);
    return sites_[key] = site_named(name.c_str(), TELLTALE_KIND_MODULE);
  }

  void clear() {
    sites_.clear();
    counts_.clear();
  }

 private:
  struct Hash {
    std::size_t operator()(const std::pair<PyObject*, void*>& key) const {
      return std::hash<void*>()(key.first) * 31 + std::hash<void*>()(key.second);
    }
  };
  std::unordered_map<std::pair<PyObject*, void*>, telltale_site*, Hash> sites_;
  std::unordered_map<std::string, std::uint32_t> counts_;
};

ModuleSites module_sites;  // under the GIL

void begin_module(nb::handle module) {
  if (telltale_is_recording()) module_scopes.begin(module_sites.find(module), module.ptr());
}

void end_module(nb::handle module) { module_scopes.end_if(module.ptr()); }

}  // namespace
}  // namespace telltale::python

NB_MODULE(_recorder, m) {
  using namespace telltale::python;
  m.doc() = "The recorder: sessions and scopes.";
  m.def("start", &start, nb::arg("path"), nb::kw_only(), nb::arg("schedule") = nb::dict(), nb::arg("memory_limit") = 0,
        nb::arg("own_file_after_fork") = false, nb::arg("quiet") = false, nb::arg("pauses") = false,
        nb::arg("on_toggle") = nb::none(),
        "Starts a session. A RuntimeError says why it cannot. on_toggle is called with False before steps are left "
        "unrecorded, and with True after they are recorded again.");
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
  m.def("begin_module", &begin_module, nb::arg("module"), "A call of an nn.Module begins.");
  m.def("end_module", &end_module, nb::arg("module"));
  m.def("forget_modules", [] { module_sites.clear(); }, "Numbers modules anew.");
  bind_python_calls(m);
  bind_sampler(m);
}
