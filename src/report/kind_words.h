// What kinds of events are called in pictures.
//
// Pure and thread-safe.
#pragma once

#include <string_view>

#include "trace/kind.h"

namespace telltale {

// "operator", "runtime call", …
std::string_view label_of(Kind kind);

}  // namespace telltale
