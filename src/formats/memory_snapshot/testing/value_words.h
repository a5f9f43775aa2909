// Values in words that tests compare: close to what Python's repr() gives, five levels deep.
#pragma once

#include <string>

#include "formats/memory_snapshot/values.h"

namespace telltale::memory_snapshot {

std::string words_of(const Values& values, ValueId value, int levels = 5);

}  // namespace telltale::memory_snapshot
