#include "advise/models/precision_model.h"

#include <algorithm>

#include "advise/facts.h"
#include "advise/models/batch_model.h"
#include "advise/patterns/device_work.h"
#include "analysis/device_maker.h"

namespace telltale {
namespace {

constexpr int kLeastCapability = 8;
constexpr double kNanosecondsPerSecond = 1e9;

// What products reach of a precision's peak. On an H200, TF32 reached 0.57 and 0.6 of it with rows of whole 16 bytes
// (vit_fp32 and encoder_in_fp32, all products together) and 0.24 to 0.26 with others; bfloat16 0.5 to 0.7 and 0.1 to
// 0.15.
struct ReachedShare {
  double aligned, odd;
};
constexpr ReachedShare kReachedInTf32 = {0.57, 0.25};
constexpr ReachedShare kReachedIn16Bits = {0.6, 0.12};
// Products with few rows reached this share of the memory's bandwidth.
constexpr double kReachedBandwidth = 0.65;
// Below this a kernel's time is that of starting it.
constexpr double kShortestKernel = 4e-6;

// Without shapes or peaks: what remained of all products of a GPT-2 together.
constexpr float kFp32LeftInTf32 = 0.35F, kFp32LeftIn16Bits = 0.25F, kTf32LeftIn16Bits = 0.65F;
// Of all convolutions of a ResNet; the first one is that of products.
constexpr float kConvolutionLeftInTf32 = 0.35F, kTf32ConvolutionLeftIn16Bits = 0.55F;
// Convolutions without tensor cores while TF32 is allowed (few channels, one a group) only move fewer bytes.
constexpr float kOtherConvolutionLeft = 0.75F;
// Flash attention against the memory-efficient one in fp32: vit_fp32 against the same network in cpu_built_masks.
constexpr float kAttentionLeftIn16Bits = 0.16F;

// torch has a switch for TF32 in cuDNN, on by default, and one for that in matrix products, off by default.
bool is_by_cudnn(const Trace& trace, const DeviceCall& call) {
  return call.work == WorkClass::kConvolution || (call.op != kNoEvent && trace.name(call.op).contains("cudnn"));
}

bool is_product(const DeviceCall& call) {
  return call.work == WorkClass::kMatmul || call.work == WorkClass::kConvolution;
}

// Products with a vector, sums of parts and convolutions of one channel a group, whatever the precision.
bool is_without_tensor_cores(std::string_view kernel) {
  for (const std::string_view part : {"gemv", "dot_kernel", "splitKreduce", "depthwise", "grouped_direct"})
    if (kernel.contains(part)) return true;
  return false;
}

// Whether the rows of a product's matrices, as they lie in memory, begin at multiples of 16 bytes.
bool is_aligned(const Trace& trace, const DeviceCall& call, Precision precision) {
  const std::int64_t elements = precision == Precision::kTf32 ? 4 : 8;  // of 16 bytes
  const OperatorTexts texts = texts_of(trace, call.op);
  const std::vector<Shape> shapes = tensor_shapes(texts.shapes), strides = tensor_shapes(texts.strides);
  std::int64_t width_of_result = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i].size() < 2) continue;
    const bool has_strides = i < strides.size() && strides[i].size() == shapes[i].size();
    const Shape& distances = has_strides ? strides[i] : shapes[i];
    if (std::any_of(distances.end() - 2, distances.end(), [&](auto n) { return n > 1 && n % elements != 0; }))
      return false;
    width_of_result = shapes[i].back();
  }
  return width_of_result % elements == 0;
}

// Of a ResNet's kernels in NCHW: those that move images, conversions of the layout, batch norms.
constexpr float kElementwiseLeft = 0.5F, kConversionsLeft = 0.87F, kNormsInNchwLeft = 1.4F;
// A batch norm with the channels last moves half of the bytes.
constexpr float kNormsLeft = 0.55F;

// What autocast leaves of other networks' kernels that move memory: behind a product they move half of the bytes, along
// the residuals between blocks as many as before. All together, of vit_fp32 against the same network in
// cpu_built_masks; 0.5 to 1 for one operator or another.
constexpr float kMovesLeft = 0.65F;

// What autocast keeps in fp32, parameters aside: what needs the range, and rows that are moved about as they are.
bool stays_in_fp32(std::string_view op) {
  for (const std::string_view part : {"norm", "softmax", "loss", "cross_entropy", "embedding", "cumsum", "pow", "exp",
                                      "log", "rsqrt", "index", "gather", "scatter"})
    if (op.contains(part)) return true;
  return false;
}

// A cast reads 4 bytes and writes 2, or the other way round, at this share of the device's bandwidth.
constexpr double kCastBytes = 6, kReachedByCasts = 0.7;
// Where the device's own is not known.
constexpr double kUnknownBandwidth = 1e12;

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

// Per step, for all forward products.
Casts casts_per_step(const Facts& facts) {
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

// What a cast costs the host, forward or backward, with what autocast does for it: recorded as 25 to 37 µs in
// cpu_built_masks and no_mixed_precision (fixed), of which four operators' and one call's recording are 17; from 12 the
// step of encoder_in_fp32 in bfloat16, where the host is the bottleneck, comes out as measured.
constexpr double kHostOfCast = 12'000;

// What the host spends on a cast: as much as there, or as on any other launch of a faster host, with all that leads to
// it.
double host_time_of_cast(const Facts& facts) {
  const auto& calls = facts.diagnosis.kernels.calls;
  const auto kernels = static_cast<double>(std::ranges::count_if(
      calls, [&](const DeviceCall& call) { return facts.trace.events.kind[call.event] == Kind::kKernel; }));
  const ReplayedStep step = facts.graph.replay(facts.unobserved);
  return kernels > 0 ? std::min(kHostOfCast, static_cast<double>(step.host_busy) * facts.steps() / kernels) : 0;
}

void add_casts(const Facts& facts, Edit& edit) {
  const Casts casts = casts_per_step(facts);
  const bool has_backward = std::ranges::find(facts.phases, Phase::kBackward) != facts.phases.end();
  const double times = has_backward ? 2 : 1;  // gradients are cast back
  const auto& peaks = facts.diagnosis.kernels.peaks;
  const double bandwidth = kReachedByCasts * (peaks ? peaks->memory_bytes : kUnknownBandwidth);
  edit.added_host_ns += static_cast<Nanoseconds>(times * (casts.inputs + casts.weights) * host_time_of_cast(facts));
  edit.added_device_ns += static_cast<Nanoseconds>(times * casts.elements * kCastBytes / bandwidth * 1e9);
}

// Of what moves memory around products.
float time_left_of_moves(const Trace& trace, const BatchGrowth& batch, const DeviceCall& call) {
  const bool moves =
      call.work == WorkClass::kElementwise || call.work == WorkClass::kReduction || call.work == WorkClass::kCopy;
  if (!moves || call.op == kNoEvent || trace.events.kind[call.event] != Kind::kKernel) return 1;
  if (call.traits.precision != Precision::kFp32 || stays_in_fp32(trace.name(call.op))) return 1;
  return batch.moves_parameters(call) ? 1 : kMovesLeft;
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

bool has_tf32(const Facts& facts) {
  const DeviceMaker maker = maker_of_devices(facts.trace);
  if (maker == DeviceMaker::kAmd || maker == DeviceMaker::kOther) return false;
  const auto has_them = [](const Device& device) { return device.compute_major.value_or(0) >= kLeastCapability; };
  const auto& peaks = facts.diagnosis.kernels.peaks;
  return (peaks && peaks->tf32_flops > 0) || std::ranges::any_of(facts.trace.devices, has_them);
}

bool has_tensor_cores_for_bf16(const Facts& facts) {
  const auto& peaks = facts.diagnosis.kernels.peaks;
  return has_tf32(facts) || (peaks && is_amd(*peaks) && peaks->half_flops > 0);
}

PrecisionModel::PrecisionModel(const Facts& facts) : facts_(facts) {
  for (const DeviceCall& call : facts.diagnosis.kernels.calls)
    if (is_product(call) && call.traits.precision == Precision::kTf32)
      uses_tf32_[is_by_cudnn(facts.trace, call) ? 1 : 0] = true;
}

bool PrecisionModel::lacks_tf32(const DeviceCall& call) const {
  if (!is_product(call) || call.traits.precision != Precision::kFp32 || call.traits.uses_tensor_cores) return false;
  return !uses_tf32_[is_by_cudnn(facts_.trace, call) ? 1 : 0] &&
         !is_without_tensor_cores(facts_.trace.name(call.event));
}

float PrecisionModel::time_left_in(const DeviceCall& call, Precision precision) const {
  switch (call.work) {
    case WorkClass::kMatmul:
      return product_left(call, precision);
    case WorkClass::kConvolution:
      return convolution_left(call, precision);
    case WorkClass::kAttention:
      return precision == Precision::kTf32 ? 1 : kAttentionLeftIn16Bits;
    default:
      return 1;
  }
}

float PrecisionModel::convolution_left(const DeviceCall& call, Precision precision) const {
  const float in_tf32 = lacks_tf32(call) ? kConvolutionLeftInTf32 : 1;
  if (precision == Precision::kTf32) return in_tf32;
  const bool has_tensor_cores = lacks_tf32(call) || call.traits.precision == Precision::kTf32;
  return in_tf32 * (has_tensor_cores ? kTf32ConvolutionLeftIn16Bits : kOtherConvolutionLeft);
}

// By the roofline; nothing without shapes or peaks.
std::optional<double> PrecisionModel::seconds_in(const DeviceCall& call, Precision precision) const {
  const auto& peaks = facts_.diagnosis.kernels.peaks;
  if (!call.flops || !call.bytes || !peaks) return {};
  const bool is_tf32 = precision == Precision::kTf32;
  const double peak = is_tf32 ? peaks->tf32_flops : peaks->half_flops;
  if (peak <= 0 || peaks->memory_bytes <= 0) return {};
  const ReachedShare reached = is_tf32 ? kReachedInTf32 : kReachedIn16Bits;
  const double share = is_aligned(facts_.trace, call, precision) ? reached.aligned : reached.odd;
  const double bytes = *call.bytes * (is_tf32 ? 1 : 0.5);
  return std::max({*call.flops / (share * peak), bytes / (kReachedBandwidth * peaks->memory_bytes), kShortestKernel});
}

float PrecisionModel::product_left(const DeviceCall& call, Precision precision) const {
  const auto taken = static_cast<double>(facts_.trace.events.duration[call.event]) / kNanosecondsPerSecond;
  if (const std::optional<double> seconds = seconds_in(call, precision); seconds && taken > 0)
    return static_cast<float>(std::min(1.0, *seconds / taken));
  if (precision == Precision::kTf32) return kFp32LeftInTf32;
  return call.traits.precision == Precision::kTf32 ? kTf32LeftIn16Bits : kFp32LeftIn16Bits;
}

bool multiplies(const DeviceCall& call) {
  return call.work == WorkClass::kMatmul || call.work == WorkClass::kConvolution || call.work == WorkClass::kAttention;
}

bool multiplies_in_32_bits(const DeviceCall& call) {
  return multiplies(call) && (call.traits.precision == Precision::kFp32 || call.traits.precision == Precision::kTf32);
}

Edit under_autocast(const Facts& facts) {
  const PrecisionModel model(facts);
  const BatchGrowth batch(facts);
  const bool has_images = is_convolutional(facts);
  Edit edit = facts.unobserved;
  for (const DeviceCall& call : facts.diagnosis.kernels.calls) {
    if (multiplies_in_32_bits(call))
      edit.scale_event(facts.trace, call.event, model.time_left_in(call, Precision::kBf16));
    else
      edit.scale_event(facts.trace, call.event,
                       has_images ? time_left_of_images(facts.trace.name(call.event), call)
                                  : time_left_of_moves(facts.trace, batch, call));
  }
  add_casts(facts, edit);
  return edit;
}

}  // namespace telltale
