// Copies that only bring a tensor's dimensions into another order.
#include <fmt/format.h>

#include <algorithm>

#include "advise/facts.h"
#include "advise/patterns/device_work.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// Of the step, for copies that the program asks for by name: what it moves for less is not worth another layout.
constexpr double kLeastPercent = 3;
constexpr double kUncertainty = 0.25;

// Whether a later dimension is further apart than an earlier one, so that walking the tensor in order jumps.
bool is_permuted(const Shape& shape, const Shape& strides) {
  std::int64_t least = INT64_MAX;
  for (std::size_t i = 0; i < std::min(shape.size(), strides.size()); ++i) {
    if (shape[i] <= 1) continue;
    if (strides[i] > least) return true;
    least = strides[i];
  }
  return false;
}

bool has_repeats(const Shape& strides) { return std::ranges::find(strides, 0) != strides.end(); }

struct LayoutCopy {
  EventId kernel;
  double elements;
  bool is_asked_for;  // by the program, with contiguous() or clone()
  bool is_backward;
};

// Of aten::copy_(to, from), with one type on both sides. Where strides were not recorded, contiguous() says it: it
// copies nothing that lies in order.
bool changes_order(const Trace& trace, EventId copy) {
  const OperatorTexts texts = texts_of(trace, copy);
  const std::vector<std::string> types = concrete_values(texts.types);
  if (types.size() >= 2 && types[0] != types[1]) return false;
  const std::vector<Shape> shapes = tensor_shapes(texts.shapes), strides = tensor_shapes(texts.strides);
  if (shapes.size() >= 2 && strides.size() >= 2)
    return strides[0] != strides[1] && !has_repeats(strides[1]) &&
           (is_permuted(shapes[0], strides[0]) || is_permuted(shapes[1], strides[1]));
  const EventId clone = trace.ancestor(copy, Kind::kOperator);
  const EventId around = clone == kNoEvent ? kNoEvent : trace.ancestor(clone, Kind::kOperator);
  return around != kNoEvent && trace.name(clone) == "aten::clone" && trace.name(around) == "aten::contiguous";
}

// A call of contiguous() or clone() that is no part of another operator: the program's own.
bool is_asked_for(const Facts& facts, EventId copy) {
  const Trace& trace = facts.trace;
  EventId outermost = kNoEvent;
  for (EventId op = trace.ancestor(copy, Kind::kOperator); op != kNoEvent; op = trace.ancestor(op, Kind::kOperator))
    outermost = op;
  if (outermost == kNoEvent || facts.phases[copy] == Phase::kBackward) return false;
  return trace.name(outermost) == "aten::contiguous" || trace.name(outermost) == "aten::clone";
}

std::vector<LayoutCopy> layout_copies(const Facts& facts) {
  std::vector<LayoutCopy> copies;
  for (const DeviceCall& call : facts.diagnosis.kernels.calls) {
    if (call.op == kNoEvent || call.work == WorkClass::kOptimizer || facts.trace.name(call.op) != "aten::copy_")
      continue;
    if (facts.trace.events.kind[call.event] != Kind::kKernel || !changes_order(facts.trace, call.op)) continue;
    const std::vector<Shape> shapes = tensor_shapes(texts_of(facts.trace, call.op).shapes);
    copies.push_back({call.event, shapes.empty() ? 0 : elements_of(shapes.front()), is_asked_for(facts, call.op),
                      facts.phases[call.op] == Phase::kBackward});
  }
  return copies;
}

std::vector<Finding> find(const Facts& facts) {
  const std::vector<LayoutCopy> copies = layout_copies(facts);
  CallSum asked_for(facts), all(facts);
  std::vector<double> sizes;
  for (const LayoutCopy& copy : copies) {
    if (!copy.is_asked_for) continue;
    asked_for.add(copy.kernel);
    sizes.push_back(copy.elements);
  }
  if (asked_for.empty() || facts.percent_of_step(asked_for.time_per_step()) < kLeastPercent) return {};
  // The backward pass moves the gradients of the same tensors.
  std::ranges::sort(sizes);
  Edit edit = facts.unobserved;
  for (const LayoutCopy& copy : copies) {
    const bool is_gradient = copy.is_backward && std::ranges::binary_search(sizes, copy.elements);
    if (!is_gradient && !copy.is_asked_for) continue;
    all.add(copy.kernel);
    edit.scale_event(facts.trace, copy.kernel, 0);
  }
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};

  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(edit);
  finding.reach = changed_by(facts, edit);
  finding.confidence = facts.trace.recorded.shapes ? Confidence::kHigh : Confidence::kMedium;
  finding.evidence = asked_for.longest();
  finding.source = source_line(facts.trace, finding.evidence.front());
  finding.title = "Tensors are copied only to reorder their dimensions";
  finding.explanation = fmt::format(
      "Copies that only reorder dimensions take {} in {}: permute() is free, but the contiguous() after it moves the "
      "whole tensor{}.",
      time_and_share(facts, all.time_per_step()), counted(all.calls_per_step(), "kernel"),
      facts.trains ? ", and the backward pass moves its gradient" : "");
  finding.fix = {"contiguous_layout", "Keep the tensor in the order that the operations between the copies want.",
                 "- y = x.permute(0, 2, 3, 1).contiguous()  # in every block\n"
                 "+ x = x.permute(0, 2, 3, 1).contiguous()  # once, before the first"};
  return {finding};
}

}  // namespace

Rule rules::layout_copies() {
  return {{.title = "Copies into another layout",
           .looks_for =
               fmt::format("Copies of a tensor with permuted strides into one without, or the other way around, that "
                           "the program asks for with contiguous() or clone() and that take {} % of the step or more.",
                           kLeastPercent),
           .needs = "CPU and CUDA activities; shapes, which come with strides, to tell these copies from others.",
           .cannot_do_without = {{Need::kDevice}},
           .saving = "The steps are replayed without these copies and without those of their gradients.",
           .held = "Predicted and measured savings, in percent of the step: 23 and 27 (layout_back_and_forth).",
           .fixes = {"contiguous_layout"}},
          find};
}

}  // namespace telltale
