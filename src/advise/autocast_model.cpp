#include "advise/autocast_model.h"

#include <algorithm>

#include "advise/convolution_layout.h"
#include "advise/operator_texts.h"
#include "advise/precision_model.h"

namespace telltale {
namespace {

// Of a ResNet's kernels in NCHW: those that move images, conversions of the layout, batch norms.
constexpr float kElementwiseLeft = 0.5F, kConversionsLeft = 0.87F, kNormsInNchwLeft = 1.4F;
// A batch norm with the channels last moves half of the bytes.
constexpr float kNormsLeft = 0.55F;

// A cast reads 4 bytes and writes 2, or the other way round, at this share of the device's bandwidth.
constexpr double kCastBytes = 6, kReachedBandwidth = 0.7;
// Where the device's own is not known.
constexpr double kBandwidth = 1e12;

// What a forward product hands to autocast.
struct Casts {
  double inputs = 0, weights = 0;  // tensors
  double elements = 0;             // of both
};

double elements_of_argument(const std::vector<Shape>& shapes, std::size_t i) {
  return i < shapes.size() ? elements_of(shapes[i]) : 0;
}

Casts casts_of(const Trace& trace, EventId op) {
  const std::string_view name = trace.name(op);
  const std::vector<Shape> shapes = tensor_shapes(texts_of(trace, op).shapes);
  const auto elements = [&](std::size_t i) { return elements_of_argument(shapes, i); };
  if (name == "aten::bmm" || name == "aten::baddbmm") return {2, 0, elements(0) + elements(1)};
  if (name == "aten::addmm") return {1, 2, elements(1) + elements(2)};
  if (name.find("conv") != std::string_view::npos) return {0, 1, elements(1)};  // images are in 16 bits already
  return {1, 1, elements(0) + elements(1)};
}

// Of a step, for all forward products.
Casts casts_a_step(const Facts& facts) {
  Casts sum;
  EventId last = kNoEvent;
  for (const DeviceCall& call : facts.diagnosis.kernels.calls) {
    if (call.op == kNoEvent || call.op == last || !multiplies_in_32_bits(call) || call.work == WorkClass::kAttention ||
        facts.phases[call.op] != Phase::kForward)
      continue;
    last = call.op;
    const Casts casts = casts_of(facts.trace, call.op);
    sum.inputs += casts.inputs / facts.steps();
    sum.weights += casts.weights / facts.steps();
    sum.elements += casts.elements / facts.steps();
  }
  // Autocast keeps what it has cast of a parameter until the step ends: there are no more than have gradients.
  const auto gradients = static_cast<double>(events_named(facts, Kind::kOperator, [](std::string_view name) {
                                               return name == "torch::autograd::AccumulateGrad";
                                             }).size());
  if (gradients > 0) sum.weights = std::min(sum.weights, gradients / facts.steps());
  return sum;
}

// What the host spends on a launch, with all that leads to it.
double host_time_of_launch(const Facts& facts) {
  const auto& calls = facts.diagnosis.kernels.calls;
  const auto kernels = static_cast<double>(std::ranges::count_if(
      calls, [&](const DeviceCall& call) { return facts.trace.events.kind[call.event] == Kind::kKernel; }));
  const ReplayedStep step = facts.graph.replay(facts.unobserved);
  return kernels > 0 ? static_cast<double>(step.host_busy) * facts.steps() / kernels : 0;
}

void add_casts(const Facts& facts, Edit& edit) {
  const Casts casts = casts_a_step(facts);
  const bool has_backward = std::ranges::find(facts.phases, Phase::kBackward) != facts.phases.end();
  const double times = has_backward ? 2 : 1;  // gradients are cast back
  const auto& peaks = facts.diagnosis.kernels.peaks;
  const double bandwidth = kReachedBandwidth * (peaks ? peaks->memory_bytes : kBandwidth);
  edit.added_host_ns += static_cast<Nanoseconds>(times * (casts.inputs + casts.weights) * host_time_of_launch(facts));
  edit.added_device_ns += static_cast<Nanoseconds>(times * casts.elements * kCastBytes / bandwidth * 1e9);
}

bool is_convolutional(const Facts& facts) {
  Nanoseconds convolutions = 0, products = 0;
  for (const DeviceCall& call : facts.diagnosis.kernels.calls) {
    const Nanoseconds duration = facts.trace.events.duration[call.event];
    if (call.work == WorkClass::kConvolution) convolutions += duration;
    if (call.work == WorkClass::kMatmul) products += duration;
  }
  return convolutions > products;
}

// Of what moves a convolutional network's images.
float time_left_of_images(std::string_view kernel, const DeviceCall& call) {
  if (is_batch_norm_in_nchw(kernel)) return kNormsInNchwLeft;
  if (call.traits.precision != Precision::kFp32) return 1;
  if (is_layout_conversion(kernel)) return kConversionsLeft;
  if (call.work == WorkClass::kNormalization) return kNormsLeft;
  return call.work == WorkClass::kElementwise ? kElementwiseLeft : 1;
}

}  // namespace

bool multiplies(const DeviceCall& call) {
  return call.work == WorkClass::kMatmul || call.work == WorkClass::kConvolution || call.work == WorkClass::kAttention;
}

bool multiplies_in_32_bits(const DeviceCall& call) {
  return multiplies(call) && (call.traits.precision == Precision::kFp32 || call.traits.precision == Precision::kTf32);
}

Edit under_autocast(const Facts& facts) {
  const PrecisionModel model(facts);
  const bool has_images = is_convolutional(facts);
  Edit edit = facts.unobserved;
  for (const DeviceCall& call : facts.diagnosis.kernels.calls) {
    if (multiplies_in_32_bits(call))
      edit.scale_event(facts.trace, call.event, model.time_left_in(call, Precision::kBf16));
    else if (has_images)
      edit.scale_event(facts.trace, call.event, time_left_of_images(facts.trace.name(call.event), call));
  }
  add_casts(facts, edit);
  return edit;
}

}  // namespace telltale
