#include "advise/finding.h"

namespace telltale {

std::string_view name_of(Confidence confidence) {
  constexpr std::array<std::string_view, 3> kNames = {"low", "medium", "high"};
  return kNames[static_cast<std::size_t>(confidence)];
}

}  // namespace telltale
