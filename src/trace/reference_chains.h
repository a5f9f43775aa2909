// What a recording says of what kept tensors alive: with --referrers, chains of references from a tensor to the
// variable from which it was reached. Recorders tell it as the value `referrers` of the header, as docs/record.md
// describes it.
//
// Pure and thread-safe. What is written otherwise than described is passed over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace telltale {

struct ReferenceChain {
  std::uint64_t address = 0;       // of the tensor's storage; 0: it is gone, but not who kept its graph
  std::vector<std::string> links;  // from the tensor to the variable, a few words each
  // The operators in the graph that it keeps, by autograd's numbers for them: from the first to the last of each row.
  std::vector<std::pair<std::int64_t, std::int64_t>> graph;

  bool keeps_graph_of(std::int64_t sequence) const;
};

// Those of tensors whose like hold most memory first; nothing where nobody looked for them.
std::optional<std::vector<ReferenceChain>> reference_chains(const Trace& trace);

}  // namespace telltale
