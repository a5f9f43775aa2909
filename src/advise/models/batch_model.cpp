#include "advise/models/batch_model.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "advise/facts.h"
#include "advise/models/host_cost.h"
#include "advise/patterns/call_loops.h"
#include "advise/patterns/device_memory.h"
#include "advise/patterns/device_work.h"
#include "advise/patterns/forward_stretch.h"
#include "advise/patterns/freed_memory.h"
#include "trace/shapes.h"

namespace telltale {
namespace {

// Products compute whole tiles of rows: fewer take as long.
constexpr double kTileRows = 64;

double peak_of(const GpuPeaks& peaks, KernelTraits traits) {
  switch (traits.precision) {
    case Precision::kBf16:
    case Precision::kFp16:
      return peaks.half_flops;
    case Precision::kTf32:
      return peaks.tf32_flops;
    case Precision::kFp32:
      return peaks.fp32_flops;
    default:
      return 0;
  }
}

double bytes_of_element(Precision precision) {
  return precision == Precision::kBf16 || precision == Precision::kFp16 ? 2 : 4;
}

// Operators that parameters and their gradients pass through: casts, fills, sums.
bool may_move_parameters(std::string_view op) {
  return op == "aten::copy_" || op == "aten::fill_" || op == "aten::zero_" || op == "aten::add_";
}

// Blocks that each walk through the whole batch, so that empty multiprocessors do not help: the gradients of embeddings
// and of layer norms' weights. On an H200 both grew with the rows at a fifth of a block a multiprocessor.
bool walks_through_batch(std::string_view kernel) {
  return kernel.find("embedding_backward_feature_kernel") != std::string_view::npos ||
         kernel.find("GammaBeta") != std::string_view::npos;
}

// A call that copies for this long copies the batch.
constexpr Nanoseconds kLongCopy = 100'000;
// Of what the replay promises: 12 programs whose host was the bottleneck gained 48 % on average, not 50.
constexpr double kShareThatHeld = 0.96;

// For more indices than these, torch sorts them to make an embedding's gradient: 29 launches instead of one, and 6.5
// times the host's time.
constexpr double kMostUnsorted = 3072;
constexpr float kHostOfSorting = 6.5F;

bool begins_to_sort(const Trace& trace, EventId op) {
  const std::vector<Shape> shapes = tensor_shapes(texts_of(trace, op).shapes);
  const double indices = shapes.size() < 2 ? 0 : elements_of(shapes[1]);
  return indices <= kMostUnsorted && 2 * indices > kMostUnsorted;
}

// Host time that grows with the batch: loading, copying and computing it.
bool handles_samples(const Facts& facts, EventId event) {
  const HostWork work = facts.host_work[event];
  return work == HostWork::kDataLoading || facts.computes_on_host(event) ||
         (work == HostWork::kCopies && facts.trace.events.duration[event] >= kLongCopy);
}

// Python frees what operators on the host have made, which takes as much longer as there is more of it.
void double_freeing(const Facts& facts, Edit& edit) {
  const Trace& trace = facts.trace;
  std::map<EventId, Nanoseconds> freeing;  // by the call whose own time it is part of
  EventId behind = 0;                      // the operators before it have been seen as a whole
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (event < behind || trace.events.kind[event] != Kind::kOperator || !facts.is_in_steps(event)) continue;
    behind = subtree_end(trace, event);
    if (const std::optional<FreedMemory> freed = freed_behind(facts, event)) freeing[freed->within] += freed->time;
  }
  for (const auto& [call, time] : freeing) {
    const auto own = static_cast<float>(std::max(facts.host_cost().own_time(call), time));
    edit.scale_event(trace, call, 1 + static_cast<float>(time) / own);
  }
}

// Loops over rows and other parts have twice as many turns, and their kernels stay as small as they are.
void double_loops(const Facts& facts, Edit& edit) {
  const Trace& trace = facts.trace;
  std::vector<ForwardStretch> stretches;
  for (const CallLoop& loop : facts.call_loops())
    if (loop.over == LoopOver::kRows || loop.over == LoopOver::kParts) stretches.push_back({loop.first, loop.end});
  const auto double_all = [&](EventId first, EventId end) {
    for (EventId event = first; event < end; ++event)
      if (!handles_samples(facts, event)) edit.scale_event(trace, event, 2);
  };
  for (const ForwardStretch& stretch : stretches) double_all(stretch.first, stretch.end);
  for (const BackwardCall& call : backward_calls_of(facts, stretches)) double_all(call.op, subtree_end(trace, call.op));
}

}  // namespace

BatchGrowth::BatchGrowth(const Facts& facts)
    : facts_(facts),
      walks_through_batch_(names_where(facts.trace, walks_through_batch)),
      may_move_parameters_(names_where(facts.trace, may_move_parameters)),
      is_parameter_(facts.trace.operator_inputs.size()),
      products_(facts.trace.operator_inputs.size()) {
  find_parameters();
  find_products();
}

void BatchGrowth::find_parameters() {
  const Trace& trace = facts_.trace;
  const auto first_shape = [&](std::size_t inputs) {
    std::vector<Shape> shapes = tensor_shapes(trace.strings[trace.operator_inputs[inputs].shapes]);
    return shapes.empty() ? Shape{} : std::move(shapes.front());
  };
  std::set<Shape> parameters;  // those of one dimension are too small to matter
  for (const EventId event : events_named(
           facts_, Kind::kOperator, [](std::string_view name) { return name == "torch::autograd::AccumulateGrad"; }))
    if (const std::optional<std::uint32_t> inputs = inputs_of(event))
      if (Shape shape = first_shape(*inputs); shape.size() >= 2) parameters.insert(std::move(shape));
  for (std::size_t inputs = 0; !parameters.empty() && inputs < is_parameter_.size(); ++inputs)
    is_parameter_[inputs] = parameters.contains(first_shape(inputs));
}

void BatchGrowth::find_products() {
  const Trace& trace = facts_.trace;
  std::vector<bool> is_read(products_.size());
  for (const DeviceCall& call : facts_.diagnosis.kernels.calls) {
    const std::optional<std::uint32_t> inputs =
        call.work == WorkClass::kMatmul && call.op != kNoEvent ? inputs_of(call.op) : std::nullopt;
    if (!inputs) continue;
    if (!is_read[*inputs]) {
      is_read[*inputs] = true;
      std::vector<Shape> matrices = tensor_shapes(trace.strings[trace.operator_inputs[*inputs].shapes]);
      std::erase_if(matrices, [](const Shape& shape) { return shape.size() != 2; });
      if (matrices.size() >= 2 && matrices.end()[-2][1] == matrices.back()[0])
        products_[*inputs] = Product{static_cast<double>(matrices.end()[-2][0]),
                                     static_cast<double>(matrices.back()[0]), static_cast<double>(matrices.back()[1])};
    }
    if (products_[*inputs] && facts_.phases[call.op] == Phase::kForward) rows_.insert(products_[*inputs]->rows);
  }
}

std::optional<std::uint32_t> BatchGrowth::inputs_of(EventId op) const {
  const OperatorInfo* const info = facts_.trace.operators.find(op);
  if (info == nullptr || info->inputs == OperatorInfo::kNoInputs) return {};
  return info->inputs;
}

float BatchGrowth::of(const DeviceCall& call) const {
  if (call.work == WorkClass::kCommunication) return 2;
  if (moves_parameters(call)) return 1;
  if (walks_through_batch_[facts_.trace.events.name[call.event]]) return 2;
  const KernelInfo* const kernel = facts_.trace.kernels.find(call.event);
  const float blocks = kernel == nullptr ? -1 : facts_.trace.kernel_launches[kernel->launch].blocks_per_multiprocessor;
  const float when_filled = blocks < 0 ? 2 : 1 + std::min(1.0F, blocks);
  return call.work == WorkClass::kMatmul ? std::min(when_filled, growth_of_product(call)) : when_filled;
}

bool BatchGrowth::moves_parameters(const DeviceCall& call) const {
  if (call.work == WorkClass::kOptimizer) return true;
  if (call.op == kNoEvent || !may_move_parameters_[facts_.trace.events.name[call.op]]) return false;
  const std::optional<std::uint32_t> inputs = inputs_of(call.op);
  return inputs && is_parameter_[*inputs];
}

double BatchGrowth::seconds_of(const Product& product, const GpuPeaks& peaks, KernelTraits traits) {
  const auto [rows, inner, columns] = product;
  const double whole_rows = std::ceil(rows / kTileRows) * kTileRows;
  return 2 * whole_rows * inner * columns / peak_of(peaks, traits) +
         (rows * inner + inner * columns + rows * columns) * bytes_of_element(traits.precision) / peaks.memory_bytes;
}

float BatchGrowth::growth_of_product(const DeviceCall& call) const {
  const auto& peaks = facts_.diagnosis.kernels.peaks;
  const std::optional<std::uint32_t> inputs = call.op == kNoEvent ? std::nullopt : inputs_of(call.op);
  if (!inputs || !products_[*inputs] || !peaks || peak_of(*peaks, call.traits) <= 0 || peaks->memory_bytes <= 0)
    return 2;
  const Product& product = *products_[*inputs];
  // In the gradient of a weight the batch is what is summed over.
  Product doubled = product;
  const bool sums_over_batch = !rows_.contains(product.rows) && rows_.contains(product.inner);
  (sums_over_batch ? doubled.inner : doubled.rows) *= 2;
  const double now = seconds_of(product, *peaks, call.traits);
  return now > 0 ? static_cast<float>(std::min(2.0, seconds_of(doubled, *peaks, call.traits) / now)) : 2;
}

Edit doubled_batch(const Facts& facts) {
  const Trace& trace = facts.trace;
  const BatchGrowth growth(facts);
  Edit edit = facts.unobserved;
  for (const DeviceCall& call : facts.diagnosis.kernels.calls) edit.scale_event(trace, call.event, growth.of(call));
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (is_on_device(trace.events.kind[event])) continue;
    if (handles_samples(facts, event)) edit.scale_event(trace, event, 2);
  }
  double_freeing(facts, edit);
  double_loops(facts, edit);
  for (const EventId op : events_named(facts, Kind::kOperator,
                                       [](std::string_view name) { return name == "aten::embedding_dense_backward"; }))
    if (begins_to_sort(trace, op)) edit.scale_subtree(trace, facts.launched, op, kHostOfSorting, 1);
  return edit;
}

Nanoseconds saved_by_doubled_batch(const Facts& facts) {
  const Nanoseconds doubled = facts.step - facts.saved_by(doubled_batch(facts));
  const Nanoseconds saved = facts.step - doubled / 2;
  return static_cast<Nanoseconds>(kShareThatHeld * static_cast<double>(saved));
}

std::vector<EventId> unchanged_by_doubled_batch(const Facts& facts) {
  const Edit edit = doubled_batch(facts);
  std::vector<EventId> unchanged;
  for (EventId event = 0; event < facts.trace.events.size(); ++event)
    if ((edit.scale.empty() || edit.scale[event] < 2) && facts.is_in_steps(event)) unchanged.push_back(event);
  return unchanged;
}

std::vector<EventId> kernels_for_larger_batch(const Facts& facts) {
  const BatchGrowth growth(facts);
  CallSum small(facts), all(facts);
  for (const DeviceCall& call : facts.diagnosis.kernels.calls) {
    if (facts.trace.events.kind[call.event] != Kind::kKernel || call.work == WorkClass::kCommunication) continue;
    if (growth.moves_parameters(call)) continue;
    all.add(call.event);
    if (growth.leaves_room(call)) small.add(call.event);
  }
  return small.empty() ? all.longest() : small.longest();
}

Fix larger_batch_fix(const Facts& facts) {
  if (facts.trains)
    return {"larger_batch",
            "Double the batch size and check the learning rate; where gradients are accumulated, use fewer, larger "
            "batches.",
            "- loader = DataLoader(data, batch_size=n)\n+ loader = DataLoader(data, batch_size=2 * n)"};
  return {
      "larger_batch",
      "Answer more requests at once: batch those that wait, and let new ones join as others end (continuous "
      "batching). Where latency allows no larger batch, CUDA graphs and quantized weights make a small one cheaper.",
      "- answers = model(requests[:n])\n+ answers = model(requests[:2 * n])"};
}

std::optional<bool> has_memory_for_doubled_batch(const Facts& facts) {
  const std::optional<MemoryInUse> memory = memory_in_use(facts);
  if (!memory) return {};
  return 2 * static_cast<double>(memory->peak_bytes) <= kUsableMemory * static_cast<double>(memory->whole_bytes);
}

}  // namespace telltale
