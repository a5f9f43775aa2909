// Whether a matrix product runs on a slow path because of its widths.
#pragma once

#include "advise/facts.h"

namespace telltale {

// What remains of such a kernel's time once its dimensions are multiples of 8: on an H200 padding left 0.12 to 0.27 of
// it in four programs.
inline constexpr float kTimeLeftByPadding = 0.2F;

// A product in 16 bits whose kernel is one of those that libraries keep for odd widths and, where the operator's shapes
// are known, that has a dimension which is no multiple of 8 elements.
bool is_misaligned_product(const Facts& facts, const DeviceCall& call);

}  // namespace telltale
