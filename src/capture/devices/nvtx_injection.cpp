// Records what a program says by NVTX. `telltale record` has NVTX, which is a header in the program and in each library
// that uses it, load this library by NVTX_INJECTION64_PATH and call InitializeInjectionNvtx2(), which puts our
// functions in place of its empty ones.
#include <nvtx3/nvToolsExt.h>
#include <telltale/telltale.h>

#include <cstdint>
#include <exception>

#include "nvtx_ranges.h"
#include "nvtx_texts.h"

namespace telltale::capture {
namespace {

// Nothing of ours may throw into the program; without memory, nothing is recorded.
template <typename Act>
auto guarded(Act act) noexcept -> decltype(act()) {
  try {
    return act();
  } catch (const std::exception&) {
    return decltype(act())();
  }
}

// ---- Messages of each kind ----

telltale_site* site_of_text(const NvtxDomain& domain, const void* text) {
  return site_of(domain, static_cast<const char*>(text));
}
telltale_site* site_of_wide(const NvtxDomain& domain, const void* text) {
  return site_of(domain, utf8(static_cast<const wchar_t*>(text)).c_str());
}
telltale_site* site_of_attributes(const NvtxDomain& domain, const void* attributes) {
  return site_of(domain, static_cast<const nvtxEventAttributes_t*>(attributes));
}
using SiteOf = telltale_site* (*)(const NvtxDomain&, const void*);

void mark(const NvtxDomain& domain, SiteOf site, const void* message) {
  if (telltale_is_recording()) guarded([&] { telltale_instant(site(domain, message), nullptr); });
}
nvtxRangeId_t start(const NvtxDomain& domain, SiteOf site, const void* message) {
  if (!telltale_is_recording()) return 0;
  return guarded([&] { return start_range(site(domain, message)); });
}
void end(nvtxRangeId_t id) {
  if (id != 0) guarded([&] { end_range(id); });
}
int push(const NvtxDomain& domain, SiteOf site, const void* message) {
  return guarded([&] { return push_range(domain, site, message); });
}

// ---- What NVTX calls ----

void NVTX_API mark_ex(const nvtxEventAttributes_t* event) { mark(default_domain(), site_of_attributes, event); }
void NVTX_API mark_a(const char* message) { mark(default_domain(), site_of_text, message); }
void NVTX_API mark_w(const wchar_t* message) { mark(default_domain(), site_of_wide, message); }
nvtxRangeId_t NVTX_API range_start_ex(const nvtxEventAttributes_t* event) {
  return start(default_domain(), site_of_attributes, event);
}
nvtxRangeId_t NVTX_API range_start_a(const char* message) { return start(default_domain(), site_of_text, message); }
nvtxRangeId_t NVTX_API range_start_w(const wchar_t* message) { return start(default_domain(), site_of_wide, message); }
void NVTX_API range_end(nvtxRangeId_t id) { end(id); }
int NVTX_API range_push_ex(const nvtxEventAttributes_t* event) {
  return push(default_domain(), site_of_attributes, event);
}
int NVTX_API range_push_a(const char* message) { return push(default_domain(), site_of_text, message); }
int NVTX_API range_push_w(const wchar_t* message) { return push(default_domain(), site_of_wide, message); }
int NVTX_API range_pop() { return pop_range(default_domain()); }
void NVTX_API name_os_thread_a(std::uint32_t thread, const char* name) {
  guarded([&] { name_thread(thread, name); });
}
void NVTX_API name_os_thread_w(std::uint32_t thread, const wchar_t* name) {
  guarded([&] { name_thread(thread, utf8(name).c_str()); });
}

void NVTX_API domain_mark_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  mark(domain_of(domain), site_of_attributes, event);
}
nvtxRangeId_t NVTX_API domain_range_start_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return start(domain_of(domain), site_of_attributes, event);
}
void NVTX_API domain_range_end(nvtxDomainHandle_t, nvtxRangeId_t id) { end(id); }
int NVTX_API domain_range_push_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return push(domain_of(domain), site_of_attributes, event);
}
int NVTX_API domain_range_pop(nvtxDomainHandle_t domain) { return pop_range(domain_of(domain)); }

// Programs give back what they get here, and nothing else.
nvtxDomainHandle_t handle_of(const NvtxDomain* domain) {
  return reinterpret_cast<nvtxDomainHandle_t>(const_cast<NvtxDomain*>(domain));
}
nvtxStringHandle_t handle_of(const NvtxString* text) {
  return reinterpret_cast<nvtxStringHandle_t>(const_cast<NvtxString*>(text));
}
nvtxStringHandle_t NVTX_API register_string_a(nvtxDomainHandle_t, const char* text) {
  return guarded([&] { return handle_of(registered_string(text)); });
}
nvtxStringHandle_t NVTX_API register_string_w(nvtxDomainHandle_t, const wchar_t* text) {
  return guarded([&] { return handle_of(registered_string(utf8(text).c_str())); });
}
nvtxDomainHandle_t NVTX_API create_domain_a(const char* name) {
  return guarded([&] { return handle_of(domain_named(name)); });
}
nvtxDomainHandle_t NVTX_API create_domain_w(const wchar_t* name) {
  return guarded([&] { return handle_of(domain_named(utf8(name).c_str())); });
}

// ---- Putting them in place ----

class Table {
 public:
  Table(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module) {
    if (callbacks.GetModuleFunctionTable(module, &functions_, &size_) == 0) size_ = 0;
  }
  template <typename Function>
  void set(unsigned id, Function function) const {
    if (id < size_ && functions_[id] != nullptr) *functions_[id] = reinterpret_cast<NvtxFunctionPointer>(function);
  }

 private:
  NvtxFunctionTable functions_ = nullptr;
  unsigned size_ = 0;
};

void attach_to(const NvtxExportTableCallbacks& callbacks) {
  const Table core(callbacks, NVTX_CB_MODULE_CORE);
  core.set(NVTX_CBID_CORE_MarkEx, mark_ex);
  core.set(NVTX_CBID_CORE_MarkA, mark_a);
  core.set(NVTX_CBID_CORE_MarkW, mark_w);
  core.set(NVTX_CBID_CORE_RangeStartEx, range_start_ex);
  core.set(NVTX_CBID_CORE_RangeStartA, range_start_a);
  core.set(NVTX_CBID_CORE_RangeStartW, range_start_w);
  core.set(NVTX_CBID_CORE_RangeEnd, range_end);
  core.set(NVTX_CBID_CORE_RangePushEx, range_push_ex);
  core.set(NVTX_CBID_CORE_RangePushA, range_push_a);
  core.set(NVTX_CBID_CORE_RangePushW, range_push_w);
  core.set(NVTX_CBID_CORE_RangePop, range_pop);
  core.set(NVTX_CBID_CORE_NameOsThreadA, name_os_thread_a);
  core.set(NVTX_CBID_CORE_NameOsThreadW, name_os_thread_w);
  const Table domains(callbacks, NVTX_CB_MODULE_CORE2);
  domains.set(NVTX_CBID_CORE2_DomainMarkEx, domain_mark_ex);
  domains.set(NVTX_CBID_CORE2_DomainRangeStartEx, domain_range_start_ex);
  domains.set(NVTX_CBID_CORE2_DomainRangeEnd, domain_range_end);
  domains.set(NVTX_CBID_CORE2_DomainRangePushEx, domain_range_push_ex);
  domains.set(NVTX_CBID_CORE2_DomainRangePop, domain_range_pop);
  domains.set(NVTX_CBID_CORE2_DomainRegisterStringA, register_string_a);
  domains.set(NVTX_CBID_CORE2_DomainRegisterStringW, register_string_w);
  domains.set(NVTX_CBID_CORE2_DomainCreateA, create_domain_a);
  domains.set(NVTX_CBID_CORE2_DomainCreateW, create_domain_w);
}

}  // namespace
}  // namespace telltale::capture

// 1: we take part; else NVTX's functions stay empty.
// NOLINTNEXTLINE(readability-identifier-naming): the name is NVTX's own
extern "C" TELLTALE_API int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t export_table) {
  const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof *callbacks) return 0;
  telltale::capture::attach_to(*callbacks);
  return 1;
}
