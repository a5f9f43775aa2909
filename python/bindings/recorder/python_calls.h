// Calls of Python functions and of built-in ones as scopes, by the hook that the interpreter has for it: sys.monitoring
// from 3.12 on, the profile function before.
//
// Bounded: after `budget` calls the hooks go, and a mark in the trace says so.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <vector>

namespace telltale::python {

struct CallOptions {
  std::vector<std::string> prefixes;  // of file names, left out; the longest first
  std::string own_folder;             // whose functions are not recorded
  std::uint64_t budget = 0;
  // The code of the function that calls a module, whose first argument it is: its calls are those of modules as well.
  // None: modules are not recorded.
  nanobind::object module_call;
  nanobind::object on_end;  // called when the budget is used up
  // Called with each module that no other one calls, and with the arguments it gets.
  nanobind::object on_outermost_module;
};

// Throws what Python raises. The GIL is held for all of these.
void start_python_calls(CallOptions options);
// Returns how many calls were recorded.
std::uint64_t stop_python_calls();

// Adds the functions above to the module.
void bind_python_calls(nanobind::module_& module);

}  // namespace telltale::python
