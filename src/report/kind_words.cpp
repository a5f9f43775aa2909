#include "report/kind_words.h"

namespace telltale {

std::string_view label_of(Kind kind) {
  switch (kind) {
    case Kind::kPython:
      return "Python";
    case Kind::kRuntime:
      return "runtime call";
    case Kind::kDriver:
      return "driver call";
    case Kind::kDeviceAnnotation:
      return "annotation on the device";
    case Kind::kDeviceOther:
      return "other device work";
    case Kind::kSync:
      return "synchronization";
    case Kind::kMemcpy:
      return "memory copy";
    case Kind::kMemset:
      return "memory fill";
    case Kind::kAsync:
      return "span of no thread";
    case Kind::kOther:
      return "other host work";
    default:
      return name_of(kind);
  }
}

}  // namespace telltale
