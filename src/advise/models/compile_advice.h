// What to say of torch.compile: with or without CUDA graphs, and what each of them buys. Rules that propose it say it
// the same way, so that their findings become one: see ranked().
#pragma once

#include <string>

#include "advise/facts.h"
#include "advise/models/compile_model.h"

namespace telltale {

struct CompileAdvice {
  Nanoseconds saved = 0;  // per step; may be negative
  Edit edit;              // that saves it
  Fix fix;
  std::string amounts;  // a sentence: what compiling alone saves, and what graphs add; empty without graphs
};

// As the model may use them: graphs fix all addresses and shapes, and are left out where the host has time to spare.
CompileAdvice compile_advice(const Facts& facts);
// With graphs wherever shapes allow them: for steps that wait for launches.
CompileAdvice compile_advice_for_launches(const Facts& facts);

// Fewer kernels in a row are no chain worth naming.
inline constexpr std::size_t kLeastKernelsOfChain = 3;

// The chain that loses most among those of kLeastKernelsOfChain or more; nothing where fusing the chains alone is not
// worth speaking of.
const FusedChain* worst_telling_chain(const CompileModel& model);

}  // namespace telltale
