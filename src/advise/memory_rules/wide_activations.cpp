// Activations in float32 where 16 bits would do.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "advise/memory_rule.h"
#include "analysis/memory_summary.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// What autocast runs in 16 bits, below the operators whose arguments it casts.
constexpr std::string_view kProducts[] = {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::convolution"};

bool has_narrow_types(std::string_view types) {
  return types.contains("BFloat16") || types.contains("Half") || types.contains("Float8");
}

// Whether the program runs under autocast already, or has its weights in 16 bits: most of its products read such
// arguments. What is in float32 then, as softmax, norms and losses, autocast would leave so.
bool multiplies_in_16_bits(const Trace& trace) {
  std::size_t narrow = 0, known = 0;
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (trace.events.kind[event] != Kind::kOperator) continue;
    if (std::ranges::find(kProducts, trace.name(event)) == std::end(kProducts)) continue;
    const std::string_view types = texts_of(trace, event).types;
    known += types.empty() ? 0 : 1;
    narrow += has_narrow_types(types) ? 1 : 0;
  }
  return 2 * narrow > known;
}

// As the operator's own arguments say it: some are float32 or, as those of cat, lists of tensors, and none is narrower.
bool is_float32(const Facts& facts, EventId op) {
  const std::string_view types = texts_of(facts.trace, op).types;
  return (types.contains("\"float\"") || types.contains("TensorList")) && !has_narrow_types(types);
}

// What the backward pass of these finds stays in float32: autocast runs them so, with a copy of what it made narrower.
// A norm behind a residual sum has it in float32, as the sum of a wide and a narrow tensor is wide.
constexpr std::string_view kWideEverywhere[] = {"LogSoftmax",   "NllLoss",        "MseLoss", "L1Loss",
                                                "SmoothL1Loss", "HuberLoss",      "KlDiv",   "BinaryCrossEntropy",
                                                "CtcLoss",      "NativeLayerNorm"};
constexpr std::string_view kWideOnDevices[] = {"Softmax", "NativeGroupNorm", "Pow", "Exp", "Log", "Cumsum", "Rsqrt"};

// "autograd::engine::evaluate_function: LogSoftmaxBackward0" → "LogSoftmax"
std::string_view differentiated_by(const Trace& trace, EventId event) {
  constexpr int kMostLooks = 1000;
  constexpr std::string_view kEngine = "autograd::engine::evaluate_function: ";
  for (int looks = 0; event != kNoEvent && looks < kMostLooks; ++looks, event = trace.events.parent[event]) {
    std::string_view name = trace.name(event);
    if (!name.starts_with(kEngine)) continue;
    name.remove_prefix(kEngine.size());
    return name.substr(0, name.rfind("Backward"));
  }
  return {};
}

bool stays_wide(const Trace& trace, DeviceId device, const UsedBlock& block) {
  const std::string_view last_use = differentiated_by(trace, block.freeing_event);
  return std::ranges::find(kWideEverywhere, last_use) != std::end(kWideEverywhere) ||
         (device != kHost && std::ranges::find(kWideOnDevices, last_use) != std::end(kWideOnDevices));
}

bool is_wide(const Facts& facts, DeviceId device, const UsedBlock& block) {
  return block.use == MemoryUse::kActivations && !block.is_left_behind && block.event != kNoEvent &&
         is_float32(facts, maker_of(facts.trace, block.event)) && !stays_wide(facts.trace, device, block);
}

bool is_product(std::string_view differentiated) {
  return differentiated == "Addmm" || differentiated == "Mm" || differentiated == "Bmm" ||
         differentiated.contains("Convolution") || differentiated.contains("Linear");
}
bool is_recurrent(std::string_view differentiated) { return differentiated.contains("Rnn"); }

// What runs in the type of what it gets, as products give it.
constexpr std::string_view kBehindProducts[] = {"Gelu", "Relu", "Silu",    "LeakyRelu", "Elu",
                                                "Tanh", "Mul",  "Sigmoid", "Hardtanh",  "NativeDropout"};

// What flows backward through an operator has the type that it computed in.
bool is_wide_on_its_way_back(const Facts& facts, const UsedBlock& block) {
  if (block.use != MemoryUse::kTemporaries || block.is_left_behind || block.event == kNoEvent) return false;
  const std::string_view of = differentiated_by(facts.trace, block.event);
  return (is_product(of) || std::ranges::find(kBehindProducts, of) != std::end(kBehindProducts)) &&
         is_float32(facts, maker_of(facts.trace, block.event));
}

MemoryEdit narrowed(const Facts& facts, DeviceId device, std::span<const UsedBlock> blocks) {
  MemoryEdit edit;
  for (const UsedBlock& block : blocks)
    if (is_wide(facts, device, block) || is_wide_on_its_way_back(facts, block)) edit.scale(block, 0.5);
  return edit;
}

// Of weights in products, autocast keeps copies in 16 bits until the backward pass has come to them and makes their
// gradients. A pass begins with its first activation.
std::vector<UsedBlock> with_narrow_weights(const Trace& trace, std::span<const UsedBlock> blocks) {
  std::vector<UsedBlock> all(blocks.begin(), blocks.end());
  std::optional<Nanoseconds> pass;
  bool is_backward = false;
  for (const UsedBlock& block : blocks) {
    if (block.use == MemoryUse::kActivations && (!pass || std::exchange(is_backward, false))) pass = block.allocated;
    if (block.use != MemoryUse::kGradients) continue;
    is_backward = true;
    const std::string_view of = differentiated_by(trace, block.event);
    if (!pass || *pass >= block.allocated || !(is_product(of) || is_recurrent(of))) continue;
    all.push_back({.bytes = block.bytes / 2, .allocated = *pass, .freed = block.allocated});
  }
  std::ranges::stable_sort(all, {}, &UsedBlock::allocated);
  return all;
}

std::vector<Finding> find(const Facts& facts, const DeviceCauses& device, std::span<const UsedBlock> blocks) {
  if (multiplies_in_16_bits(facts.trace)) return {};
  const DeviceId id = device.peak.device;
  std::int64_t wide = 0;
  Finding finding;
  for (const UsedBlock& block : device.at_peak) {
    if (!is_wide(facts, id, block)) continue;
    wide += block.bytes;
    if (finding.evidence.size() < Finding::kMaxEvidence) finding.evidence.push_back(maker_of(facts.trace, block.event));
  }
  if (wide == 0) return {};
  const std::int64_t narrow =
      edited_peak(with_narrow_weights(facts.trace, blocks), narrowed(facts, id, blocks)).allocated;
  finding.saving_bytes = std::max<std::int64_t>(0, edited_peak(blocks, {}).allocated - narrow);
  if (!is_worth_freeing(device, finding.saving_bytes)) return {};
  finding.source = source_line(facts.trace, finding.evidence.front());
  finding.title = "Activations are kept in float32";
  finding.explanation = fmt::format(
      "At the peak, {} of what is kept for the backward pass comes from operators that compute in float32. "
      "In 16 bits it takes half, beside copies of the weights.",
      format_bytes(wide));
  finding.confidence = Confidence::kMedium;
  finding.fix = {"bf16", "Run the forward pass under autocast: parameters stay in float32, most activations take half.",
                 "+ with torch.autocast(device_type, dtype=torch.bfloat16):\n      loss = model(x, y)"};
  return {finding};
}

MemoryEdit edit(const Facts& facts, const DeviceCauses& device, const Finding&, std::span<const UsedBlock> blocks) {
  return narrowed(facts, device.peak.device, blocks);
}

}  // namespace

MemoryRule memory_rules::wide_activations() {
  return {
      {.title = "Activations in float32",
       .looks_for = "What stands at the peak for the backward pass and was made by operators with float32 "
                    "arguments and none of 16 bits. Silent where most matrix products and convolutions run in 16 bits "
                    "already.",
       .needs = "Memory events and shapes, which bring the types of arguments; stacks for the source line.",
       .saving = "Bytes: how much lower the peak is when it takes half, but for what losses, norms of layers and, on "
                 "GPUs, softmax and norms of groups need, which autocast leaves in float32, and with copies of the "
                 "weights in 16 bits until the backward pass has come to them; what flows backward through products "
                 "is narrower, too. Time is the matter of no_mixed_precision.",
       .held = "Predicted and measured, in MiB: 671 and 615, in a program made for it on an H200; on a CPU 39 and 38, "
               "14 and 13, 34 and 30, 37 and 40, in a perceptron, a convolutional network, an LSTM and a U-Net.",
       .fixes = {"bf16"}},
      find,
      edit};
}

}  // namespace telltale
