// A loop calls the same operators for each row, time step, expert, table or parameter.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "advise/models/loop_model.h"
#include "advise/patterns/call_loops.h"
#include "advise/patterns/row_loops.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

constexpr double kUncertainty = 0.1;
constexpr double kUncertaintyOfOthers = 0.3;

// Loops of one kind, and how they read.
struct Wording {
  LoopOver over;
  std::string_view title;  // with the number of turns
  Fix fix;
};

const Wording& wording_of(LoopOver over) {
  static const auto& kWordings = *new std::array{
      Wording{LoopOver::kRows,
              "A loop calls the same operators for each of {} rows",
              {"batch_calls", "Call the operators once, on all rows together.",
               "- y = torch.stack([f(x[i]) for i in range(len(x))])\n+ y = f(x)  # or torch.vmap(f)(x)"}},
      Wording{
          LoopOver::kParts,
          "A loop calls the same operators for each of {} parts",
          {"batch_calls",
           "Call the operators once, on the whole tensor. index_add and scatter_reduce sum up parts of different "
           "lengths; cumsum, or a product with a triangular matrix, sums up what builds on the turn before.",
           "- y = [f(x[:, i]) for i in range(x.shape[1])]\n+ y = f(x.transpose(0, 1))\n"
           "- sums = [x[group == i].sum(0) for i in range(n)]\n+ sums = x.new_zeros(n, width).index_add(0, group, x)"}},
      Wording{LoopOver::kCells,
              "A loop calls a recurrent cell for each of {} time steps",
              {"batch_calls", "Give the whole sequence to nn.LSTM, nn.GRU or nn.RNN, which runs as one call.",
               "- for t in range(len(x)): h, c = cell(x[t], (h, c))\n+ y, (h, c) = nn.LSTM(inputs, width)(x)"}},
      Wording{LoopOver::kExperts,
              "A loop calls {} experts one after another",
              {"batch_calls",
               "Sort the rows by expert and multiply them all in one grouped product, or give each expert the same "
               "number of rows and use one batched product.",
               "- for i, expert in enumerate(experts): y[rows[i]] = expert(x[rows[i]])\n"
               "+ y = torch._grouped_mm(x[order], weights, offs=ends)  # or torch.bmm(x_by_expert, weights)"}},
      Wording{LoopOver::kTables,
              "A loop looks up {} embedding tables one at a time",
              {"batch_calls", "Keep the tables in one, each behind the rows of those before it, and look up once.",
               "- y = [table(ids[:, i]) for i, table in enumerate(tables)]\n"
               "+ y = one_table(ids + first_rows)  # first_rows: where each table begins"}},
      Wording{LoopOver::kParameters,
              "A loop goes through {} parameters one at a time",
              {"batch_calls", "Call torch._foreach_… with the lists of all parameters at once.",
               "- for average, p in zip(averages, parameters): average.lerp_(p, 0.001)\n"
               "+ torch._foreach_lerp_(averages, parameters, 0.001)"}},
  };
  return *std::ranges::find(kWordings, over, &Wording::over);
}

Nanoseconds duration_of(const Trace& trace, const CallLoop& loop) {
  const Events& events = trace.events;
  Nanoseconds end = events.end(loop.turns.back());
  for (EventId event = loop.turns.back(); event < loop.end; ++event) end = std::max(end, events.end(event));
  return end - events.start[loop.first];
}

// Calls that a turn makes, without what these call.
double calls_per_turn(const Trace& trace, const CallLoop& loop) {
  double calls = 0;
  for (EventId event = loop.first; event < loop.end; event = subtree_end(trace, event)) ++calls;
  return calls / static_cast<double>(loop.turns.size());
}

// Of the loops with as many turns as the one that takes longest, the one in the middle: a step may have been disturbed.
const CallLoop& usual_of_longest(const Trace& trace, const std::vector<CallLoop>& loops) {
  const auto duration = [&](const CallLoop* loop) { return duration_of(trace, *loop); };
  std::vector<const CallLoop*> by_duration;
  for (const CallLoop& loop : loops) by_duration.push_back(&loop);
  std::ranges::stable_sort(by_duration, {}, duration);
  const std::size_t turns = by_duration.back()->turns.size();
  std::erase_if(by_duration, [&](const CallLoop* loop) { return loop->turns.size() != turns; });
  return *by_duration[by_duration.size() / 2];
}

std::optional<Finding> finding_about(const Facts& facts, const std::vector<CallLoop>& loops) {
  const Edit edit = without_loops(facts, loops);
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};
  const CallLoop& longest = usual_of_longest(facts.trace, loops);
  const Wording& wording = wording_of(longest.over);

  Finding finding;
  finding.saving = saving_around(facts, likely, longest.over == LoopOver::kRows ? kUncertainty : kUncertaintyOfOthers);
  finding.edit = facts.kept(edit);
  finding.reach = changed_by(facts, edit);
  finding.confidence = facts.trace.recorded.shapes ? Confidence::kHigh : Confidence::kMedium;
  finding.title = fmt::format(fmt::runtime(wording.title), longest.turns.size());
  finding.explanation = fmt::format("Its turns, of about {} each, take {} of the recorded step.",
                                    counted(std::round(calls_per_turn(facts.trace, longest)), "call"),
                                    format_time(duration_of(facts.trace, longest)));
  const double per_step = static_cast<double>(loops.size()) / facts.steps();
  if (per_step > 1) finding.explanation += fmt::format(" A step has {}.", counted(per_step, "such loop"));
  finding.evidence.assign(
      longest.turns.begin(),
      longest.turns.begin() + std::min<std::ptrdiff_t>(std::ssize(longest.turns), Finding::kMaxEvidence));
  finding.source = source_line(facts.trace, longest.turns.front());
  finding.fix = wording.fix;
  return finding;
}

// On a CPU a whole GRU or plain recurrent network takes as long as its cells (0.77 to 0.92 of them); only an LSTM
// gains.
bool gains_as_one_call(const Facts& facts, const CallLoop& loop) {
  if (facts.diagnosis.breakdown.has_device || loop.over != LoopOver::kCells) return true;
  for (EventId event = loop.first; event < loop.end; ++event)
    if (facts.trace.name(event) == "aten::lstm_cell") return true;
  return false;
}

std::vector<Finding> find(const Facts& facts) {
  std::map<LoopOver, std::vector<CallLoop>> by_kind;
  for (const CallLoop& loop : facts.call_loops())
    if (gains_as_one_call(facts, loop)) by_kind[loop.over].push_back(loop);
  std::vector<Finding> findings;
  for (const auto& [over, loops] : by_kind)
    if (std::optional<Finding> finding = finding_about(facts, loops)) findings.push_back(*std::move(finding));
  return findings;
}

}  // namespace

Rule rules::loop_indexing() {
  return {
      {.title = "Loops that one call could replace",
       .looks_for = fmt::format(
           "At least {} calls to select, slice, narrow or index from one place, one after another, each for a "
           "different "
           "row of the same tensor and followed by the same calls. And at least {} turns that call the same in the "
           "same "
           "order: a recurrent cell, experts that pick their rows, lookups in embedding tables, or changes in place of "
           "tensors with the shapes of parameters. Layers, which have parameters of their own and wait for one "
           "another, "
           "do not count.",
           kLeastTurns, kLeastEqualTurns),
       .needs = "Shapes, whose values tell rows and parameters apart, or stacks; these also give the modules and the "
                "source line.",
       .cannot_do_without = {{Need::kShapes, Need::kStacks}},
       .saving =
           "The steps are replayed with the loop's calls, the Python between them and their backward pass divided by "
           "the number of turns, and GPU work by as much as there is room on the GPU. Of recurrent cells, half of the "
           "products remain. On a CPU, what operators do with their data remains as well, but for gradients of rows "
           "and parts, each of which is as large as the whole tensor.",
       .held = "Predicted and measured savings, in percent of the step: 93 and 98 (row_loop), 67 and 74 "
               "(detector_with_boolean_masks), 77 and 82 (molecules_read_out_one_by_one), 89 and 78 (cells_in_a_loop).",
       .fixes = {"batch_calls"}},
      find};
}

}  // namespace telltale
