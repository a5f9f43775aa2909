#include "advise/models/compile_model.h"

#include <algorithm>
#include <map>
#include <set>

#include "advise/patterns/changing_shapes.h"
#include "advise/patterns/device_work.h"
#include "advise/patterns/host_time.h"
#include "analysis/operator_arguments.h"
#include "trace/shapes.h"

namespace telltale {
namespace {

// Modules that launch at least this share of the forward pass's kernels, in at most so many calls per step (a generator
// and a discriminator, an encoder and a decoder), are models.
constexpr double kShareOfModel = 0.2;
constexpr double kMostModels = 3;
// Waits per step within the forward pass from which on compiling gained nothing: each cuts the graph.
constexpr double kMostWaits = 3;
// Collecting garbage visits every object, and a compiler brings a million of its own: a program that spends this much
// on it gained nothing, or lost.
constexpr double kMostCollectedPercent = 10;
// Work of compiled kernels from which on a program counts as compiled.
constexpr double kShareOfCompiled = 0.3;

// A convolution in the layout that it wants.
constexpr float kConvolutionLeft = 0.8F;

// Convolutions of so few channels do not care about their layout.
constexpr std::int64_t kFewChannels = 64;

// What decides about the layout of a network's images: [outputs, inputs of a group, height, width] of a weight.
struct ConvolutionWeight {
  std::int64_t outputs = 0, inputs = 0, height = 0;
  bool is_grouped = false;
};

std::optional<ConvolutionWeight> convolution_weight(const Trace& trace, EventId op) {
  constexpr std::size_t kImageDimensions = 4;
  const std::vector<Shape> shapes = tensor_shapes(texts_of(trace, op).shapes);
  if (shapes.size() < 2 || shapes[0].size() != kImageDimensions || shapes[1].size() != kImageDimensions) return {};
  const Shape& weight = shapes[1];
  return ConvolutionWeight{weight[0], weight[1], weight[2], shapes[0][1] > weight[1]};
}

// Python that goes from one operator to the next takes microseconds; what takes longer is work of the program's own.
constexpr Nanoseconds kLongestGlue = 100'000;

// A host that is busy for this share of the compiled step is close to holding the device up, and the model of it rough.
constexpr double kShareOfBusyHost = 0.5;

bool is_compiled_mark(std::string_view name) {
  return name.starts_with("triton_") || name.starts_with("Torch-Compiled Region") ||
         name.starts_with("## Call CompiledFxGraph") || name == "CompiledFunction";
}

bool is_recurrent(std::string_view name) {
  return name == "aten::lstm" || name == "aten::gru" || name.starts_with("aten::rnn_") ||
         name.starts_with("aten::_cudnn_rnn") || name.starts_with("aten::miopen_rnn");
}

// Elements of an operator's largest input: what it must move.
Elements largest_input(const Trace& trace, EventId op) {
  Elements most = 0;
  for (const Shape& shape : tensor_shapes(texts_of(trace, op).shapes))
    if (!shape.empty()) most = std::max(most, elements_of(shape));
  return most;
}

bool moves_memory_only(WorkClass work) {
  return work == WorkClass::kElementwise || work == WorkClass::kReduction || work == WorkClass::kCopy ||
         work == WorkClass::kNormalization || work == WorkClass::kOther;
}

}  // namespace

Fix compile_graphs_fix() {
  return {"compile_graphs", "Compile the model with CUDA graphs so that a step takes only a few launches.",
          "+ model = torch.compile(model, mode=\"reduce-overhead\")"};
}

CompileModel::CompileModel(const Facts& facts)
    : facts_(facts),
      is_in_region_(facts.trace.events.size()),
      stays_(facts.trace.events.size()),
      is_conversion_(names_where(facts.trace, is_layout_conversion)) {
  find_region();
  find_chains();
  find_obstacles();
  find_layout();
  if (!applies()) return;
  find_unnamed_time();
  replay_edits();
}

void CompileModel::find_region() {
  const Trace& trace = facts_.trace;
  const Events& events = trace.events;
  // The outermost module around each host event.
  std::vector<EventId> outermost(events.size(), kNoEvent);
  for (EventId event = 0; event < events.size(); ++event) {
    const EventId parent = events.parent[event];
    if (parent != kNoEvent) outermost[event] = outermost[parent];
    if (outermost[event] == kNoEvent && events.kind[event] == Kind::kModule) outermost[event] = event;
    has_backward_ = has_backward_ || facts_.phases[event] == Phase::kBackward;
  }

  const bool has_model = has_single_model(outermost);
  const auto is_inside = [&](EventId event) {
    if (facts_.phases[event] == Phase::kForward) return !has_model || outermost[event] != kNoEvent;
    return facts_.phases[event] == Phase::kBackward;
  };
  for (EventId event = 0; event < events.size(); ++event) {
    if (is_on_device(events.kind[event])) continue;
    const EventId cause = events.cause[event], parent = events.parent[event];
    const bool follows_forward = events.kind[event] == Kind::kOperator && cause != kNoEvent &&
                                 !is_on_device(events.kind[cause]) && facts_.phases[cause] == Phase::kForward;
    if (facts_.phases[event] == Phase::kBackward && follows_forward)
      is_in_region_[event] = is_inside(cause);
    else if (facts_.phases[event] == Phase::kBackward && parent != kNoEvent &&
             facts_.phases[parent] == Phase::kBackward && events.kind[parent] == Kind::kOperator)
      is_in_region_[event] = is_in_region_[parent];
    else
      is_in_region_[event] = is_inside(event);
  }
}

// Whether the program calls its model as one, so that this is what a user would compile. Else it calls layers one by
// one, and the whole forward pass is the region.
bool CompileModel::has_single_model(const std::vector<EventId>& outermost) const {
  std::set<EventId> models;
  double inside = 0, forward = 0;
  for (const DeviceCall& call : facts_.diagnosis.kernels.calls) {
    const EventId launch = facts_.trace.launch_of(call.event);
    if (launch == kNoEvent || facts_.phases[launch] != Phase::kForward) continue;
    ++forward;
    if (outermost[launch] == kNoEvent) continue;
    ++inside;
    models.insert(outermost[launch]);
  }
  return inside >= kShareOfModel * forward && static_cast<double>(models.size()) <= kMostModels * facts_.steps();
}

// Runs of kernels that only move memory, between those that compute; within a run, kernels on tensors of the same size
// become one.
void CompileModel::find_chains() {
  const Trace& trace = facts_.trace;
  std::vector<const DeviceCall*> calls;
  for (const DeviceCall& call : facts_.diagnosis.kernels.calls) {
    const EventId launch = trace.launch_of(call.event);
    if (trace.events.kind[call.event] == Kind::kKernel && launch != kNoEvent && is_in_region_[launch])
      calls.push_back(&call);
  }
  std::stable_sort(calls.begin(), calls.end(), [&](const DeviceCall* a, const DeviceCall* b) {
    return trace.events.start[a->event] < trace.events.start[b->event];
  });
  std::map<Elements, std::vector<const DeviceCall*>> run;  // by elements
  const auto end_run = [&] {
    for (const auto& [elements, members] : run) add_chain(members);
    run.clear();
  };
  for (const DeviceCall* call : calls) {
    if (is_conversion_[trace.events.name[call->event]]) continue;
    if (moves_memory_only(call->work))
      run[largest_input(trace, call->op)].push_back(call);
    else
      end_run();
  }
  end_run();
}

// What a kernel would take by itself, written by a compiler: as long as now, or what its tensors need; in nanoseconds.
double CompileModel::compiled_alone(const DeviceCall& call) const {
  const auto now = static_cast<double>(facts_.trace.events.duration[call.event]);
  const bool is_norm = call.work == WorkClass::kNormalization;
  const double as_now = (is_norm ? kNormsLeft : 1) * now;
  if (!call.roofline_seconds || *call.roofline_seconds <= 0) return as_now;
  return std::min(as_now, *call.roofline_seconds * 1e9 / (is_norm ? kReachedByNorms : kReachedByFused));
}

void CompileModel::add_chain(const std::vector<const DeviceCall*>& run) {
  if (run.size() < 2) return;
  FusedChain chain;
  double left = 0, longest = 0;  // the latter of those that are no norms
  for (const DeviceCall* call : run) {
    const bool is_norm = call->work == WorkClass::kNormalization;
    const double alone = compiled_alone(*call);
    chain.kernels.push_back(call->event);
    chain.total += facts_.trace.events.duration[call->event];
    left += (is_norm ? 1 : kOthersLeft) * alone;
    if (!is_norm) longest = std::max(longest, alone);
  }
  chain.fused = static_cast<Nanoseconds>(left + (kLongestLeft - kOthersLeft) * longest);
  chains_.push_back(std::move(chain));
}

// Waits between launches of a forward pass, in all steps. Where they stand tells more than their own phase does: the
// operators that wait take part in no backward pass.
double CompileModel::waits_within_forward() const {
  const Trace& trace = facts_.trace;
  const StepTiming& timing = facts_.diagnosis.timing;
  std::vector<std::pair<Nanoseconds, Phase>> launches;
  for (const DeviceCall& call : facts_.diagnosis.kernels.calls) {
    const EventId launch = trace.launch_of(call.event);
    if (launch == kNoEvent || facts_.phases[launch] == Phase::kOther) continue;
    const bool is_outside = facts_.phases[launch] == Phase::kForward && !is_in_region_[launch];
    launches.emplace_back(trace.events.start[launch], is_outside ? Phase::kOther : facts_.phases[launch]);
  }
  std::sort(launches.begin(), launches.end());
  double waits = 0;
  for (const SyncPoint& sync : facts_.diagnosis.syncs) {
    if (facts_.host_work[sync.call] != HostWork::kSync) continue;
    const auto next =
        std::lower_bound(launches.begin(), launches.end(), std::pair(trace.events.start[sync.call], Phase::kData));
    const bool is_within = next != launches.end() && next != launches.begin() && next->second == Phase::kForward &&
                           std::prev(next)->second == Phase::kForward &&
                           step_at(timing, next->first) == step_at(timing, std::prev(next)->first);
    if (is_within) ++waits;
  }
  return waits;
}

// Whether no step computes on tensors of the same shapes as another one, as far as shapes are recorded: each would need
// a graph of its own.
bool CompileModel::has_changing_shapes() const {
  const Trace& trace = facts_.trace;
  std::map<int, std::vector<StringId>> shapes_by_step;
  for (const DeviceCall& call : facts_.diagnosis.kernels.calls) {
    const OperatorInfo* const op = call.op == kNoEvent ? nullptr : trace.operators.find(call.op);
    if (op == nullptr || op->inputs == OperatorInfo::kNoInputs || !is_in_region_[call.op]) continue;
    const int step = step_at(facts_.diagnosis.timing, trace.events.start[call.op]);
    shapes_by_step[step].push_back(trace.operator_inputs[op->inputs].shapes);
  }
  std::set<std::vector<StringId>> distinct;
  for (auto& [step, shapes] : shapes_by_step) {
    std::sort(shapes.begin(), shapes.end());
    distinct.insert(std::move(shapes));
  }
  return shapes_by_step.size() > 1 && distinct.size() == shapes_by_step.size();
}

void CompileModel::find_obstacles() {
  const Trace& trace = facts_.trace;
  Nanoseconds compiled = 0, all = 0;
  for (const DeviceCall& call : facts_.diagnosis.kernels.calls) {
    if (trace.events.kind[call.event] != Kind::kKernel || call.work == WorkClass::kOptimizer) continue;
    all += trace.events.duration[call.event];
    if (trace.name(call.event).starts_with("triton_")) compiled += trace.events.duration[call.event];
  }
  const std::vector<bool> is_mark = names_where(trace, is_compiled_mark);
  const bool has_marks = std::any_of(is_mark.begin(), is_mark.end(), [](bool mark) { return mark; });
  is_compiled_ =
      has_marks && (static_cast<double>(compiled) >= kShareOfCompiled * static_cast<double>(all) ||
                    facts_.diagnosis.breakdown.by_host_work[static_cast<std::size_t>(HostWork::kCompilation)] > 0);

  allows_graphs_ = !has_changing_shapes();
  is_compiled_anew_ = has_new_shapes_at_every_call(facts_);
  is_broken_by_waits_ = waits_within_forward() >= kMostWaits * facts_.steps();
  is_held_by_collector_ =
      facts_.percent_of_step(
          facts_.diagnosis.breakdown.by_host_work[static_cast<std::size_t>(HostWork::kGarbageCollection)]) >=
      kMostCollectedPercent;

  for (EventId event = 0; event < trace.events.size(); ++event)
    if (!is_on_device(trace.events.kind[event])) stays_[event] = facts_.computes_on_host(event);
  // Python of the user's own that calls no operator is no part of a graph.
  keep(facts_.user_python());
  // Recurrent networks are left to cuDNN as they are.
  keep(events_named(facts_, Kind::kOperator, is_recurrent));
}

// torch.compile puts the channels last, but not in networks that lost by it: with groups of several channels, with
// convolutions to half of their channels or fewer (the way up of a U-Net), or with few channels throughout.
void CompileModel::find_layout() {
  const Trace& trace = facts_.trace;
  bool has_conversions = false, loses = false, has_many_channels = false, is_known = false;
  for (const DeviceCall& call : facts_.diagnosis.kernels.calls) {
    has_conversions = has_conversions || is_conversion_[trace.events.name[call.event]];
    if (call.op == kNoEvent || facts_.phases[call.op] == Phase::kBackward) continue;
    if (call.work != WorkClass::kConvolution || !trace.name(call.op).contains("convolution")) continue;
    const std::optional<ConvolutionWeight> weight = convolution_weight(trace, call.op);
    if (!weight) continue;
    is_known = true;
    loses = loses || (weight->is_grouped && weight->inputs > 1) ||
            (2 * weight->outputs <= weight->inputs && weight->height > 1);
    has_many_channels = has_many_channels || weight->outputs > kFewChannels || weight->inputs > kFewChannels;
  }
  changes_layout_ = has_conversions && !loses && (has_many_channels || !is_known);
}

void CompileModel::keep(const std::vector<EventId>& roots) {
  EventId behind = 0;  // all that was kept
  for (const EventId root : roots) {
    const EventId end = subtree_end(facts_.trace, root);
    for (EventId event = std::max(root, behind); event < end; ++event) stays_[event] = true;
    behind = std::max(behind, end);
  }
}

bool CompileModel::is_shortened(EventId event) const {
  const HostWork work = facts_.host_work[event];
  const bool is_overhead = work == HostWork::kPython || work == HostWork::kOperators || work == HostWork::kLaunching;
  return is_overhead && is_in_region_[event] && !stays_[event];
}

void CompileModel::find_unnamed_time() {
  const Trace& trace = facts_.trace;
  struct OwnTime {
    double shown = 0, between = 0;
  };
  std::map<EventId, OwnTime> marks;
  const auto is_within_region = [&](const HostMoment& moment) {
    const auto& [here, before, behind] = moment;
    return before != kNoEvent && behind != kNoEvent && is_shortened(before) && is_shortened(behind) &&
           trace.step_of(before) == trace.step_of(behind) && here.when.length() <= kLongestGlue;
  };
  visit_host_time(facts_, [&](const HostMoment& moment) {
    const EventId event = moment.here.event;
    if (event == kNoEvent || trace.events.kind[event] != Kind::kAnnotation || is_shortened(event)) return;
    const auto length = static_cast<double>(moment.here.when.length());
    marks[event].shown += length;
    if (is_within_region(moment)) marks[event].between += length;
  });
  for (const auto& [mark, time] : marks)
    if (time.between > 0) unnamed_.emplace_back(mark, static_cast<float>(time.between / time.shown));
}

void CompileModel::replay_edits() {
  const Edit edit = compiled();
  const ReplayedStep plain = facts_.graph.replay(edit);
  saved_ = facts_.saved_by(edit);
  may_want_graphs_ =
      allows_graphs_ && static_cast<double>(plain.host_busy) >= kShareOfBusyHost * static_cast<double>(plain.period);
  saved_with_graphs_ = facts_.saved_by(compiled_with_graphs());
  saved_by_fusing_ = facts_.saved_by(fused());
}

Edit CompileModel::fused() const {
  Edit edit = facts_.unobserved;
  fuse_chains(edit);
  return edit;
}

void CompileModel::fuse_chains(Edit& edit) const {
  for (const FusedChain& chain : chains_)
    for (const EventId kernel : chain.kernels)
      edit.scale_event(facts_.trace, kernel, static_cast<float>(chain.fused) / static_cast<float>(chain.total));
}

Edit CompileModel::edited(float host_share, Nanoseconds added_host) const {
  const Trace& trace = facts_.trace;
  Edit edit = facts_.unobserved;
  edit.added_host_ns = added_host;
  for (EventId event = 0; event < trace.events.size(); ++event)
    if (!is_on_device(trace.events.kind[event]) && is_shortened(event)) edit.scale_event(trace, event, host_share);
  for (const auto& [mark, share] : unnamed_) edit.scale_event(trace, mark, 1 - share * (1 - host_share));
  fuse_chains(edit);
  for (const DeviceCall& call : facts_.diagnosis.kernels.calls) {
    const EventId launch = trace.launch_of(call.event);
    if (launch == kNoEvent || !is_in_region_[launch]) continue;
    if (host_share == 0) edit.run_in_graph(trace, call.event);
    if (is_misaligned_product(facts_, call)) edit.scale_event(trace, call.event, kTimeLeftByPadding);
    if (!changes_layout_) continue;
    if (is_conversion_[trace.events.name[call.event]])
      edit.scale_event(trace, call.event, 0);
    else if (call.work == WorkClass::kConvolution)
      edit.scale_event(trace, call.event, kConvolutionLeft);
  }
  return edit;
}

}  // namespace telltale
