#include "module_calls.h"

#include <nanobind/stl/string.h>
#include <telltale/telltale.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

#include "open_scopes.h"

namespace nb = nanobind;

namespace telltale::python {
namespace {

thread_local OpenScopes module_scopes;

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

ModuleSites module_sites;

}  // namespace

void begin_module(nb::handle module, const void* what) {
  if (telltale_is_recording()) module_scopes.begin(module_sites.find(module), what);
}

void end_module(const void* what) { module_scopes.end_if(what); }

void end_all_modules() { module_scopes.end_all(); }

bool is_next_outermost() { return module_scopes.is_empty(); }

void forget_modules() { module_sites.clear(); }

}  // namespace telltale::python
