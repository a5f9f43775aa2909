// What a recording says of what kept tensors alive: with --referrers, chains of references from a tensor to the
// variable from which it was reached. Recorders tell it as the value `referrers` of the header, as docs/record.md
// describes it.
//
// Pure and thread-safe. What is written otherwise than described is passed over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace telltale {

struct ReferenceChain {
  std::uint64_t address = 0;       // of the tensor's storage
  std::vector<std::string> links;  // from the tensor to the variable, a few words each
};

// Those of tensors whose like hold most memory first; nothing where nobody looked for them.
std::optional<std::vector<ReferenceChain>> reference_chains(const Trace& trace);

}  // namespace telltale
