#include "trace/categories.h"

#include <algorithm>
#include <array>

#include "trace/step_marks.h"

namespace telltale {
namespace {

constexpr std::array kRules = std::to_array<CategoryRule>({
    {"cpu_op", Kind::kOperator},
    {"user_annotation", Kind::kAnnotation},
    {"python_function", Kind::kPython},
    {"cuda_runtime", Kind::kRuntime},
    {"cuda_driver", Kind::kDriver},
    {"kernel", Kind::kKernel},
    {"gpu_memcpy", Kind::kMemcpy},
    {"gpu_memset", Kind::kMemset},
    {"gpu_user_annotation", Kind::kDeviceAnnotation},
    {"cuda_sync", Kind::kSync},
    {"cuda_event", Kind::kSync},
    {"cuda_profiler_range", Kind::kDeviceAnnotation},
    {"collective_comm", Kind::kCollective},
    {"overhead", Kind::kOverhead},
    {"Trace", Kind::kSpan},

    {"hip_runtime", Kind::kRuntime},
    {"hip_driver", Kind::kDriver},
    {"xpu_runtime", Kind::kRuntime},
    {"xpu_driver", Kind::kDriver},
    {"xpu_sync", Kind::kSync},
    {"mtia_runtime", Kind::kRuntime},
    {"mtia_ccp_events", Kind::kKernel},
    {"mtia_insight", Kind::kOther},
    {"privateuse1_runtime", Kind::kRuntime},
    {"privateuse1_driver", Kind::kDriver},
    {"hpu_op", Kind::kRuntime},  // Kineto declares it as the HPU's host-side runtime
    {"glow_runtime", Kind::kRuntime},

    {"Operator", Kind::kOperator},
    {"Runtime", Kind::kRuntime},
    {"Kernel", Kind::kKernel},
    {"Memcpy", Kind::kMemcpy},
    {"Memset", Kind::kMemset},
});

constexpr std::array<std::string_view, 7> kDevicePrefixes = {"cuda_", "hip_",         "xpu_", "mtia_",
                                                             "hpu_",  "privateuse1_", "gpu_"};

Kind kind_of_category(std::string_view category) {
  for (const CategoryRule& rule : kRules)
    if (rule.category == category) return rule.kind;
  const bool is_a_device_s =
      std::ranges::any_of(kDevicePrefixes, [&](std::string_view prefix) { return category.starts_with(prefix); });
  if (!is_a_device_s) return Kind::kOther;
  if (category.find("collective") != std::string_view::npos) return Kind::kCollective;
  return Kind::kDeviceOther;
}

}  // namespace

std::span<const CategoryRule> category_rules() { return kRules; }

Kind kind_of(std::string_view category, std::string_view name, bool& is_known) {
  const Kind kind = kind_of_category(category);
  is_known = category.empty() || (kind != Kind::kOther && kind != Kind::kDeviceOther);
  return kind_by_name(kind, name);
}

Kind kind_by_name(Kind kind, std::string_view name) {
  if (kind == Kind::kPython && name.starts_with("nn.Module: ")) return Kind::kModule;
  if (kind == Kind::kKernel && name == "dma_request") return Kind::kMemcpy;
  if (kind == Kind::kOperator && is_annotation_name(name)) return Kind::kAnnotation;
  return kind;
}

}  // namespace telltale
