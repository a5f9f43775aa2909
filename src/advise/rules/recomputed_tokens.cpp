// Text is generated without a cache: each call of the model gets all tokens, and computes them again.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advise/models/host_cost.h"
#include "advise/patterns/device_work.h"
#include "advise/rule.h"
#include "analysis/requests.h"
#include "analysis/sample_rows.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// Fewer calls in a row that grow by a token each may do so by chance.
constexpr std::int64_t kLeastCalls = 8;
// What a cache costs to read and to extend, and how far an operator on one token is from what its shapes say.
constexpr double kUncertainty = 0.2;

// A call of the model, with the tokens of each of its samples; 0 where that is not known.
struct ModelCall {
  EventId event = kNoEvent;
  std::int64_t tokens = 0;
};

ModelCall model_call(const Trace& trace, EventId module) {
  const EventId end = subtree_end(trace, module);
  for (EventId event = module; event < end; ++event)
    if (const auto tokens = sequence_length(trace, event)) return {module, *tokens};
  return {module, 0};
}

// Calls that each get one token more than the one before, without the first of each row: that one has to compute all. A
// call of as many tokens as the one before may be a part of it, where calls are seen by samples.
std::vector<ModelCall> growing_calls(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<ModelCall> found, row;
  const auto end_row = [&] {
    if (!row.empty() && row.back().tokens - row.front().tokens + 1 >= kLeastCalls) {
      const auto behind_first =
          std::ranges::find_if(row, [&](const ModelCall& call) { return call.tokens > row.front().tokens; });
      found.insert(found.end(), behind_first, row.end());
    }
    row.clear();
  };
  for (const EventId module : outermost_modules(trace)) {
    const ModelCall call = facts.is_in_steps(module) ? model_call(trace, module) : ModelCall{};
    if (call.tokens == 0) continue;
    const bool goes_on = !row.empty() && (call.tokens == row.back().tokens || call.tokens == row.back().tokens + 1) &&
                         trace.events.name[module] == trace.events.name[row.back().event] &&
                         trace.events.track[module] == trace.events.track[row.back().event];
    if (!goes_on) end_row();
    row.push_back(call);
  }
  end_row();
  return found;
}

// On a CPU, what an operator does with its tensors is that of one token. What kernels of a GPU take for one is not
// known: they hardly become shorter when they are short.
Edit with_cache(const Facts& facts, const std::vector<ModelCall>& calls) {
  Edit edit = facts.unobserved;
  if (facts.diagnosis.breakdown.has_device) return edit;
  const HostCost& cost = facts.host_cost();
  for (const ModelCall& call : calls) {
    const float saved = 1 - 1 / static_cast<float>(call.tokens);
    const EventId end = subtree_end(facts.trace, call.event);
    for (EventId event = call.event; event < end; ++event)
      if (cost.growing_share(event) > 0) edit.scale_event(facts.trace, event, 1 - cost.growing_share(event) * saved);
  }
  return edit;
}

std::vector<Finding> find(const Facts& facts) {
  if (facts.trains || !facts.trace.recorded.shapes) return {};
  const std::vector<ModelCall> calls = growing_calls(facts);
  if (calls.empty()) return {};
  const auto [fewest, most] = std::ranges::minmax(calls, {}, &ModelCall::tokens);

  Finding finding;
  const Edit edit = with_cache(facts, calls);
  finding.saving = saving_around(facts, std::max<Nanoseconds>(0, facts.saved_by(edit)), kUncertainty);
  finding.edit = facts.kept(edit);
  finding.reach = changed_by(facts, edit);
  finding.confidence = facts.diagnosis.breakdown.has_device ? Confidence::kLow : Confidence::kMedium;
  for (const ModelCall& call : calls) finding.evidence.push_back(call.event);
  finding.source = source_line(facts.trace, calls.front().event);
  finding.title = "Each new token computes all tokens before it again";
  finding.explanation =
      fmt::format("{} get one token more than the call before, {} to {} in all, and compute each of them.",
                  counted(std::round(static_cast<double>(calls.size()) / facts.steps()),
                          "call of the model in each step", "calls of the model in each step"),
                  fewest.tokens, most.tokens);
  finding.fix = {"kv_cache",
                 "Keep the keys and values of the tokens so far, and give the model only the new one. Models of "
                 "transformers do so with use_cache=True.",
                 "- logits = model(tokens)\n+ logits, cache = model(tokens[:, -1:], cache)"};
  return {finding};
}

}  // namespace

Rule rules::recomputed_tokens() {
  return {
      {.title = "Generation without a cache",
       .looks_for = fmt::format("In a program that does not train, {} or more calls of the outermost module in a "
                                "row whose first layer gets one token more each time.",
                                kLeastCalls),
       .needs = "Modules and shapes.",
       .cannot_do_without = {{Need::kModules}, {Need::kShapes}},
       .saving = "Without a GPU, the steps are replayed with what operators do with their tensors in these calls "
                 "divided by the number of tokens. On a GPU none is promised.",
       .held =
           "A transformer of four layers that writes 64 words behind 64 others: promised 74 % twice, gained 75 and 79.",
       .fixes = {"kv_cache"}},
      find};
}

}  // namespace telltale
