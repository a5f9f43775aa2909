#include "analysis/work_class.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "analysis/closure_steps.h"

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
    {"reshape_and_cache", WorkClass::kCopy},  // of keys and values, before any attention
    {"store_kvcache", WorkClass::kCopy},
    {"fmha", WorkClass::kAttention},
    {"Fmha", WorkClass::kAttention},
    {"attn_fwd", WorkClass::kAttention},  // of AOTriton, as the next three
    {"attn_bwd", WorkClass::kAttention},
    {"bwd_kernel_dk_dv", WorkClass::kAttention},
    {"bwd_kernel_dq", WorkClass::kAttention},
    {"flash", WorkClass::kAttention},
    {"sdpa", WorkClass::kAttention},
    {"attention", WorkClass::kAttention},
    {"Attention", WorkClass::kAttention},
    {"convert_dq", WorkClass::kAttention},  // of cuDNN's backward, as the next one
    {"compute_dot_do_o", WorkClass::kAttention},
    {"nchwToNhwc", WorkClass::kCopy},
    {"nhwcToNchw", WorkClass::kCopy},
    {"batched_transpose_", WorkClass::kCopy},  // of MIOpen, as the next two
    {"transpose_NCHW", WorkClass::kCopy},
    {"transpose_CNHW", WorkClass::kCopy},
    {"TransData", WorkClass::kCopy},  // of Ascend, as the next two
    {"_MemSet", WorkClass::kCopy},
    {"_Cast", WorkClass::kCopy},
    {"wgrad", WorkClass::kConvolution},
    {"dgrad", WorkClass::kConvolution},
    {"fprop", WorkClass::kConvolution},
    {"conv", WorkClass::kConvolution},
    {"Conv", WorkClass::kConvolution},
    {"winograd", WorkClass::kConvolution},
    {"igemm_", WorkClass::kConvolution},
    {"Im2d2Col", WorkClass::kConvolution},
    {"Col2Im2d", WorkClass::kConvolution},
    {"batch_norm", WorkClass::kNormalization},
    {"layer_norm", WorkClass::kNormalization},
    {"LayerNorm", WorkClass::kNormalization},
    {"GammaBeta", WorkClass::kNormalization},
    {"RowwiseMoments", WorkClass::kNormalization},
    {"group_norm", WorkClass::kNormalization},
    {"rms_norm", WorkClass::kNormalization},
    {"BatchNorm", WorkClass::kNormalization},
    {"RMSNorm", WorkClass::kNormalization},
    {"rmsnorm", WorkClass::kNormalization},
    {"Rmsnorm", WorkClass::kNormalization},
    {"Layernorm", WorkClass::kNormalization},
    {"layernorm", WorkClass::kNormalization},
    {"bn_fw", WorkClass::kNormalization},
    {"bn_bw", WorkClass::kNormalization},
    {"gemm", WorkClass::kMatmul},
    {"Gemm", WorkClass::kMatmul},
    {"GEMM", WorkClass::kMatmul},
    {"gemv", WorkClass::kMatmul},
    {"nvjet", WorkClass::kMatmul},
    {"splitKreduce", WorkClass::kMatmul},
    {"cublas", WorkClass::kMatmul},
    {"cutlass", WorkClass::kMatmul},
    {"matmul", WorkClass::kMatmul},
    {"MatMul", WorkClass::kMatmul},
    {"dot_kernel", WorkClass::kMatmul},
    {"Cijk_", WorkClass::kMatmul},
    {"fused_moe", WorkClass::kMatmul},
    {"moe_stage", WorkClass::kMatmul},
    {"adam", WorkClass::kOptimizer},
    {"Adam", WorkClass::kOptimizer},
    {"sgd", WorkClass::kOptimizer},
    {"softmax", WorkClass::kReduction},
    {"SoftMax", WorkClass::kReduction},
    {"Softmax", WorkClass::kReduction},
    {"reduce", WorkClass::kReduction},
    {"Reduce", WorkClass::kReduction},
    {"nll_loss", WorkClass::kReduction},
    {"NLLLoss", WorkClass::kReduction},
    {"Catenate", WorkClass::kCopy},
    {"CatArray", WorkClass::kCopy},
    {"copy", WorkClass::kCopy},
    {"Memcpy", WorkClass::kCopy},
    {"Memset", WorkClass::kCopy},
    {"elementwise", WorkClass::kElementwise},
    {"multi_tensor_apply", WorkClass::kElementwise},
    {"FillFunctor", WorkClass::kElementwise},
    {"dropout", WorkClass::kElementwise},
    {"rotary_embedding", WorkClass::kElementwise},
    {"act_and_mul", WorkClass::kElementwise},
    {"SubTensorOp", WorkClass::kElementwise},
    {"AiCore_", WorkClass::kElementwise},  // of Ascend: "aclnnAdd_AddAiCore_Add"
};

// TorchInductor's names say how a kernel goes about it, then which operators were fused: a pointwise one is that,
// whatever stands behind; a template is the product or convolution it was made for.
WorkClass class_of_inductor_kernel(std::string_view name) {
  constexpr NamePart kFused[] = {
      {"attention", WorkClass::kAttention},      {"layer_norm", WorkClass::kNormalization},
      {"rms_norm", WorkClass::kNormalization},   {"batch_norm", WorkClass::kNormalization},
      {"group_norm", WorkClass::kNormalization},
  };
  if (name.starts_with("triton_poi")) return WorkClass::kElementwise;
  if (name.starts_with("triton_tem"))
    return name.find("conv") == std::string_view::npos ? WorkClass::kMatmul : WorkClass::kConvolution;
  for (const auto& [part, work] : kFused)
    if (name.find(part) != std::string_view::npos) return work;
  return WorkClass::kReduction;
}

bool is_inductor_kernel(std::string_view name) {
  constexpr std::string_view kPrefixes[] = {"triton_poi", "triton_red", "triton_per", "triton_tem"};
  return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// Of a kernel whose own name tells nothing.
WorkClass class_of_operator(std::string_view name) {
  constexpr std::string_view kProducts[] = {"aten::mm",     "aten::addmm",  "aten::bmm",       "aten::baddbmm",
                                            "aten::linear", "aten::matmul", "aten::_scaled_mm"};
  return std::ranges::find(kProducts, name) != std::end(kProducts) ? WorkClass::kMatmul : class_of_kernel_name(name);
}

bool is_convolution(std::string_view operator_name) { return operator_name.find("conv") != std::string_view::npos; }

// Operators and annotations whose kernels belong to the optimizer: "Optimizer.step#AdamW.step", aten::_fused_adamw_.
bool is_optimizer(std::string_view name) {
  return name.starts_with("Optimizer.step") || name.starts_with("aten::_fused_adam") ||
         name.starts_with("aten::_fused_sgd") || name.starts_with("aten::_fused_adagrad") ||
         name.starts_with("Optimizer.zero_grad");
}

}  // namespace

std::string_view name_of(WorkClass work) {
  constexpr std::array<std::string_view, kWorkClassCount> kNames = {
      "matmul",    "convolution", "attention", "normalization", "elementwise",
      "reduction", "optimizer",   "copy",      "communication", "other",
  };
  return kNames[static_cast<std::size_t>(work)];
}

WorkClass class_of_kernel_name(std::string_view name) {
  if (is_inductor_kernel(name)) return class_of_inductor_kernel(name);
  for (const auto& [part, work] : kKernelNames)
    if (name.find(part) != std::string_view::npos) return work;
  return WorkClass::kOther;
}

WorkClassifier::WorkClassifier(const Trace& trace)
    : trace_(trace), by_name_(trace.strings.size()), is_in_optimizer_(trace.events.size()) {
  std::vector<char> is_optimizer_name(trace.strings.size());
  for (StringId id = 0; id < trace.strings.size(); ++id) is_optimizer_name[id] = is_optimizer(trace.strings[id]);
  const std::vector<bool> is_in_closure_step = in_closure_step(trace);
  for (EventId event = 0; event < trace.events.size(); ++event) {
    const EventId parent = trace.events.parent[event];
    const bool has_closure = is_in_closure_step[event] && trace.events.kind[event] == Kind::kAnnotation &&
                             trace.name(event).starts_with("Optimizer.step");
    is_in_optimizer_[event] = (is_optimizer_name[trace.events.name[event]] && !has_closure) ||
                              (parent != kNoEvent && is_in_optimizer_[parent]);
  }
}

WorkClass WorkClassifier::operator()(EventId event) {
  const Kind kind = trace_.events.kind[event];
  if (kind == Kind::kCollective) return WorkClass::kCommunication;
  if (kind == Kind::kMemcpy || kind == Kind::kMemset) return WorkClass::kCopy;
  if (!trace_.collectives.empty() && trace_.collectives.find(event) != nullptr) return WorkClass::kCommunication;
  const EventId origin = trace_.origin_of(event);
  if (origin != kNoEvent && is_in_optimizer_[origin]) return WorkClass::kOptimizer;

  const StringId name = trace_.events.name[event];
  if (!by_name_[name]) by_name_[name] = class_of_kernel_name(trace_.strings[name]);
  const WorkClass work = *by_name_[name];
  if (work != WorkClass::kOther && work != WorkClass::kMatmul) return work;
  const EventId op = trace_.operator_at(origin);
  if (op == kNoEvent) return work;
  if (work == WorkClass::kOther) return class_of_operator(trace_.name(op));
  // cuDNN computes convolutions of one by one as products.
  return is_convolution(trace_.name(op)) ? WorkClass::kConvolution : work;
}

}  // namespace telltale
