// The allocator's settings as a snapshot has them.
#pragma once

#include <string>

#include "formats/memory_snapshot/block_rules.h"
#include "formats/memory_snapshot/records.h"
#include "formats/memory_snapshot/values.h"

namespace telltale::memory_snapshot {

// Those that decide how large blocks are.
BlockRules block_rules_of(const Values& values, Records& records, ValueId settings);

// Any value as JSON, sixteen levels deep and a megabyte long at most; what lies beyond is null.
std::string json_of(const Values& values, ValueId value);

}  // namespace telltale::memory_snapshot
