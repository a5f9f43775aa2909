// What NVTX programs name things with: domains, strings that are registered once, and messages of each kind.
//
// Names live as long as the process, as the recorder's do; there are only so many of them. Thread-safe.
#pragma once

#include <nvtx3/nvToolsExt.h>
#include <telltale/telltale.h>

#include <chrono>
#include <string>

namespace telltale::capture {

// Nobody holds a mutex here for longer, but whoever held it when this process was forked never gives it back.
inline constexpr std::chrono::milliseconds kPatience{50};

// What the program's handles point to.
struct NvtxDomain {
  std::string category;  // "nvtx", or "nvtx: name" of any but the default one
};
struct NvtxString {
  std::string text;
};

const NvtxDomain& default_domain();
// One for a name, however often it is made.
const NvtxDomain* domain_named(const char* name);
const NvtxString* registered_string(const char* text);

// The domain of a handle that the program gives; the default one for null.
const NvtxDomain& domain_of(nvtxDomainHandle_t handle);

std::string utf8(const wchar_t* text);

// Where what the message says is recorded.
telltale_site* site_of(const NvtxDomain& domain, const char* message);
telltale_site* site_of(const NvtxDomain& domain, const nvtxEventAttributes_t* attributes);

}  // namespace telltale::capture
