#include "analysis/work_class.h"

#include <algorithm>
#include <array>
#include <utility>

namespace telltale {
namespace {

struct NamePart {
  std::string_view part;
  WorkClass work;
};

// Looked for in this order: a name may hold several of them ("softmax" in an attention kernel, "gemm" in a
// convolution).
constexpr NamePart kKernelNames[] = {
    {"nccl", WorkClass::kCommunication},
    {"rccl", WorkClass::kCommunication},
    {"fmha", WorkClass::kAttention},
    {"flash", WorkClass::kAttention},
    {"sdpa", WorkClass::kAttention},
    {"attention", WorkClass::kAttention},
    {"Attention", WorkClass::kAttention},
    {"nchwToNhwc", WorkClass::kCopy},
    {"nhwcToNchw", WorkClass::kCopy},
    {"wgrad", WorkClass::kConvolution},
    {"dgrad", WorkClass::kConvolution},
    {"fprop", WorkClass::kConvolution},
    {"conv", WorkClass::kConvolution},
    {"Conv", WorkClass::kConvolution},
    {"winograd", WorkClass::kConvolution},
    {"batch_norm", WorkClass::kNormalisation},
    {"layer_norm", WorkClass::kNormalisation},
    {"LayerNorm", WorkClass::kNormalisation},
    {"GammaBeta", WorkClass::kNormalisation},
    {"RowwiseMoments", WorkClass::kNormalisation},
    {"group_norm", WorkClass::kNormalisation},
    {"rms_norm", WorkClass::kNormalisation},
    {"bn_fw", WorkClass::kNormalisation},
    {"bn_bw", WorkClass::kNormalisation},
    {"gemm", WorkClass::kMatmul},
    {"Gemm", WorkClass::kMatmul},
    {"GEMM", WorkClass::kMatmul},
    {"gemv", WorkClass::kMatmul},
    {"nvjet", WorkClass::kMatmul},
    {"splitKreduce", WorkClass::kMatmul},
    {"cublas", WorkClass::kMatmul},
    {"cutlass", WorkClass::kMatmul},
    {"matmul", WorkClass::kMatmul},
    {"dot_kernel", WorkClass::kMatmul},
    {"adam", WorkClass::kOptimizer},
    {"Adam", WorkClass::kOptimizer},
    {"sgd", WorkClass::kOptimizer},
    {"softmax", WorkClass::kReduction},
    {"SoftMax", WorkClass::kReduction},
    {"reduce", WorkClass::kReduction},
    {"Reduce", WorkClass::kReduction},
    {"triton_red", WorkClass::kReduction},
    {"triton_per", WorkClass::kReduction},
    {"nll_loss", WorkClass::kReduction},
    {"Catenate", WorkClass::kCopy},
    {"CatArray", WorkClass::kCopy},
    {"copy", WorkClass::kCopy},
    {"Memcpy", WorkClass::kCopy},
    {"Memset", WorkClass::kCopy},
    {"triton_poi", WorkClass::kElementwise},
    {"elementwise", WorkClass::kElementwise},
    {"multi_tensor_apply", WorkClass::kElementwise},
    {"FillFunctor", WorkClass::kElementwise},
    {"dropout", WorkClass::kElementwise},
};

// Operators and annotations whose kernels belong to the optimizer: "Optimizer.step#AdamW.step", aten::_fused_adamw_.
bool is_optimizer(std::string_view name) {
  return name.starts_with("Optimizer.step") || name.starts_with("aten::_fused_adam") ||
         name.starts_with("aten::_fused_sgd") || name.starts_with("aten::_fused_adagrad") ||
         name.starts_with("Optimizer.zero_grad");
}

}  // namespace

std::string_view name_of(WorkClass work) {
  constexpr std::array<std::string_view, kWorkClassCount> kNames = {
      "matmul",    "convolution", "attention", "normalisation", "elementwise",
      "reduction", "optimizer",   "copy",      "communication", "other",
  };
  return kNames[static_cast<std::size_t>(work)];
}

WorkClass class_of_kernel_name(std::string_view name) {
  for (const auto& [part, work] : kKernelNames)
    if (name.find(part) != std::string_view::npos) return work;
  return WorkClass::kOther;
}

WorkClassifier::WorkClassifier(const Trace& trace)
    : trace_(trace), by_name_(trace.strings.size()), is_optimizer_name_(trace.strings.size()) {
  for (StringId id = 0; id < trace.strings.size(); ++id) is_optimizer_name_[id] = is_optimizer(trace.strings[id]);
}

WorkClass WorkClassifier::operator()(EventId event) {
  const Kind kind = trace_.events.kind[event];
  if (kind == Kind::kCollective || trace_.collectives.find(event) != nullptr) return WorkClass::kCommunication;
  if (kind == Kind::kMemcpy || kind == Kind::kMemset) return WorkClass::kCopy;
  if (is_launched_by_optimizer(event)) return WorkClass::kOptimizer;
  const StringId name = trace_.events.name[event];
  if (!by_name_[name]) by_name_[name] = class_of_kernel_name(trace_.strings[name]);
  if (*by_name_[name] != WorkClass::kOther) return *by_name_[name];
  const EventId op = trace_.operator_of(event);
  return op == kNoEvent ? WorkClass::kOther : class_of_kernel_name(trace_.name(op));
}

bool WorkClassifier::is_launched_by_optimizer(EventId event) const {
  EventId at = trace_.events.cause[event];
  while (at != kNoEvent && !is_optimizer_name_[trace_.events.name[at]]) at = trace_.events.parent[at];
  return at != kNoEvent;
}

}  // namespace telltale
