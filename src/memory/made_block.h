// A block with what is known of where it was made, which is what its use is told by.
#pragma once

#include "analysis/torch_memory.h"
#include "memory/memory_uses.h"
#include "memory/stack_words.h"

namespace telltale {

struct MadeBlock {
  UsedBlock block;
  StringId pool = kEmptyString;
  MemoryCategory category = MemoryCategory::kUnknown;
  StackPart part = StackPart::kUnknown;
};

}  // namespace telltale
