#include "nvtx_texts.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace telltale::capture {
namespace {

constexpr const char* kCategory = "nvtx";
constexpr const char* kNoMessage = "(no message)";

// Things by their names, never fewer: programs keep the pointers. Beyond `most`, all others share one.
template <typename Thing>
class ByName {
 public:
  ByName(std::size_t most, Thing other) : most_(most), other_(std::move(other)) {}

  template <typename Make>
  const Thing* find_or_make(const std::string& name, Make make) {
    const std::unique_lock held(mutex_, kPatience);
    if (!held) return &other_;
    if (const auto known = things_.find(name); known != things_.end()) return known->second.get();
    if (things_.size() >= most_) return &other_;
    return (things_[name] = std::make_unique<Thing>(make(name))).get();
  }

 private:
  std::timed_mutex mutex_;
  std::size_t most_;
  Thing other_;
  std::unordered_map<std::string, std::unique_ptr<Thing>> things_;
};

void append_utf8(std::string& text, std::uint32_t letter) {
  if (letter > 0x10FFFF || (letter >= 0xD800 && letter < 0xE000)) letter = 0xFFFD;
  const auto put = [&](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  const auto continue_with = [&](int shift) { put(0x80 | ((letter >> shift) & 0x3F)); };
  if (letter < 0x80) {
    put(letter);
  } else if (letter < 0x800) {
    put(0xC0 | (letter >> 6));
    continue_with(0);
  } else if (letter < 0x10000) {
    put(0xE0 | (letter >> 12));
    continue_with(6);
    continue_with(0);
  } else {
    put(0xF0 | (letter >> 18));
    continue_with(12);
    continue_with(6);
    continue_with(0);
  }
}

}  // namespace

const NvtxDomain& default_domain() {
  static const auto* const domain = new NvtxDomain{kCategory};
  return *domain;
}

const NvtxDomain* domain_named(const char* name) {
  static auto* const domains = new ByName<NvtxDomain>(1024, {"nvtx: (too many domains)"});
  return domains->find_or_make(name != nullptr ? name : "", [](const std::string& text) {
    return NvtxDomain{text.empty() ? kCategory : std::string(kCategory) + ": " + text};
  });
}

const NvtxString* registered_string(const char* text) {
  static auto* const strings = new ByName<NvtxString>(1 << 16, {"(too many names)"});
  return strings->find_or_make(text != nullptr ? text : "", [](const std::string& known) { return NvtxString{known}; });
}

const NvtxDomain& domain_of(nvtxDomainHandle_t handle) {
  return handle != nullptr ? *reinterpret_cast<const NvtxDomain*>(handle) : default_domain();
}

std::string utf8(const wchar_t* text) {
  std::string result;
  for (; text != nullptr && *text != L'\0'; ++text) append_utf8(result, static_cast<std::uint32_t>(*text));
  return result;
}

telltale_site* site_of(const NvtxDomain& domain, const char* message) {
  telltale_site description = {};
  description.name = message != nullptr ? message : kNoMessage;
  description.category = domain.category.c_str();
  description.kind = TELLTALE_KIND_ANNOTATION;
  return telltale_make_site(&description);
}

telltale_site* site_of(const NvtxDomain& domain, const nvtxEventAttributes_t* attributes) {
  if (attributes == nullptr) return site_of(domain, kNoMessage);
  switch (attributes->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return site_of(domain, attributes->message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE:
      return site_of(domain, utf8(attributes->message.unicode).c_str());
    case NVTX_MESSAGE_TYPE_REGISTERED: {
      const auto* const text = reinterpret_cast<const NvtxString*>(attributes->message.registered);
      return site_of(domain, text != nullptr ? text->text.c_str() : kNoMessage);
    }
    default:
      return site_of(domain, kNoMessage);
  }
}

}  // namespace telltale::capture
