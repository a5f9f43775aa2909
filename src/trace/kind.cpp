#include "trace/kind.h"

#include <array>

namespace telltale {
namespace {

constexpr std::array<std::string_view, kKindCount> kNames = {
    "operator",   "annotation",        "python", "module",   "runtime", "driver",  "kernel", "memcpy", "memset", "sync",
    "collective", "device_annotation", "device", "overhead", "span",    "instant", "async",  "other",
};

}  // namespace

std::string_view name_of(Kind kind) { return kNames[static_cast<std::size_t>(kind)]; }

std::optional<Kind> kind_named(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<Kind>(i);
  return std::nullopt;
}

bool is_device_work(Kind kind) {
  return kind == Kind::kKernel || kind == Kind::kMemcpy || kind == Kind::kMemset || kind == Kind::kCollective ||
         kind == Kind::kDeviceOther;
}

bool is_on_device(Kind kind) { return is_device_work(kind) || kind == Kind::kSync || kind == Kind::kDeviceAnnotation; }

bool is_api_call(Kind kind) { return kind == Kind::kRuntime || kind == Kind::kDriver; }

}  // namespace telltale
