#include "advise/models/compile_advice.h"

#include <fmt/format.h>

#include "base/amounts.h"

namespace telltale {
namespace {

std::string amount(const Facts& facts, Nanoseconds saved) {
  return fmt::format("{} per step ({})", format_time(saved), format_percent(facts.percent_of_step(saved)));
}

std::string amounts_of(const Facts& facts, Nanoseconds plain, Nanoseconds with_graphs) {
  if (plain <= 0)
    return fmt::format("torch.compile alone would save nothing, with CUDA graphs {}.", amount(facts, with_graphs));
  if (with_graphs <= plain)
    return fmt::format("torch.compile would save {}, and CUDA graphs would add nothing to that.", amount(facts, plain));
  return fmt::format("torch.compile alone would save {}, and CUDA graphs another {}.", amount(facts, plain),
                     amount(facts, with_graphs - plain));
}

CompileAdvice with_graphs(const Facts& facts, const CompileModel& model) {
  return {model.saved_with_graphs(), model.compiled_with_graphs(), compile_graphs_fix(),
          amounts_of(facts, model.saved(), model.saved_with_graphs())};
}

Fix plain_fix(const Facts& facts, const CompileModel& model) {
  if (model.allows_graphs()) return {"compile", "Compile the model.", "+ model = torch.compile(model)"};
  if (facts.trains)
    return {"compile", "Compile the model so that it launches fewer kernels, each at a lower cost.",
            "+ model = torch.compile(model, dynamic=True)"};
  return {"compile",
          "Compile the model so that it launches fewer kernels, each at a lower cost. Where every token changes the "
          "shapes, a static KV cache keeps them, and CUDA graphs become possible.",
          "+ model = torch.compile(model, dynamic=True)\n"
          "+ model.generation_config.cache_implementation = \"static\"  # in transformers"};
}

CompileAdvice without_graphs(const Facts& facts, const CompileModel& model) {
  return {model.saved(), model.compiled(), plain_fix(facts, model), {}};
}

}  // namespace

CompileAdvice compile_advice(const Facts& facts) {
  const CompileModel& model = facts.compile_model();
  const bool wants_graphs = model.saved_with_graphs() >= model.saved() && model.may_want_graphs();
  return wants_graphs ? with_graphs(facts, model) : without_graphs(facts, model);
}

CompileAdvice compile_advice_for_launches(const Facts& facts) {
  const CompileModel& model = facts.compile_model();
  return model.allows_graphs() ? with_graphs(facts, model) : without_graphs(facts, model);
}

const FusedChain* worst_telling_chain(const CompileModel& model) {
  if (!model.applies() || !model.has_telling_chains()) return nullptr;
  const FusedChain* worst = nullptr;
  for (const FusedChain& chain : model.chains()) {
    if (chain.kernels.size() < kLeastKernelsOfChain) continue;
    if (worst == nullptr || chain.total - chain.fused > worst->total - worst->fused) worst = &chain;
  }
  return worst;
}

}  // namespace telltale
