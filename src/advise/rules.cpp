#include <array>

#include "advise/rule.h"

namespace telltale {

// One for each file in rules/, in the order of the documentation: data, host, kernels, memory, many devices. Of rules
// that propose the same fix for the same saving, the first one speaks.
extern const Rule kDataLoadingRule;
extern const Rule kLoaderNoWorkersRule;
extern const Rule kPageableCopyRule;
extern const Rule kSmallCopiesRule;
extern const Rule kCpuBuiltTensorRule;
extern const Rule kHostSyncRule;
extern const Rule kLaunchBlockingRule;
extern const Rule kLoggingInStepRule;
extern const Rule kLaunchBoundRule;
extern const Rule kCudaGraphCandidateRule;
extern const Rule kPythonOverheadRule;
extern const Rule kLoopIndexingRule;
extern const Rule kGarbageCollectionRule;
extern const Rule kRecompilationRule;
extern const Rule kSingleTensorOptimizerRule;
extern const Rule kFp32MatmulRule;
extern const Rule kNoMixedPrecisionRule;
extern const Rule kMisalignedDimsRule;
extern const Rule kChannelsLastRule;
extern const Rule kLayoutCopiesRule;
extern const Rule kUnfusedAttentionRule;
extern const Rule kUnfusedNormRule;
extern const Rule kZeroGradMemsetRule;
extern const Rule kLowRooflineRule;
extern const Rule kUnfusedElementwiseRule;
extern const Rule kExcessRecomputeRule;
extern const Rule kUnderfilledGpuRule;
extern const Rule kSmallBatchRule;
extern const Rule kCompileCandidateRule;
extern const Rule kAllocatorChurnRule;
extern const Rule kMemoryLeakRule;
extern const Rule kMemorySpikeRule;
extern const Rule kFragmentationRule;
extern const Rule kExposedCommunicationRule;
extern const Rule kTraceUnfitRule;

namespace {

// clang-format off: a line each, so that a new rule is a new line
constexpr auto kRules = std::to_array<const Rule*>({
    &kDataLoadingRule,
    &kLoaderNoWorkersRule,
    &kPageableCopyRule,
    &kSmallCopiesRule,
    &kCpuBuiltTensorRule,
    &kHostSyncRule,
    &kLaunchBlockingRule,
    &kLoggingInStepRule,
    &kLaunchBoundRule,
    &kCudaGraphCandidateRule,
    &kPythonOverheadRule,
    &kLoopIndexingRule,
    &kGarbageCollectionRule,
    &kRecompilationRule,
    &kSingleTensorOptimizerRule,
    &kFp32MatmulRule,
    &kNoMixedPrecisionRule,
    &kMisalignedDimsRule,
    &kChannelsLastRule,
    &kLayoutCopiesRule,
    &kUnfusedAttentionRule,
    &kUnfusedNormRule,
    &kZeroGradMemsetRule,
    &kLowRooflineRule,
    &kCompileCandidateRule,
    &kUnfusedElementwiseRule,
    &kExcessRecomputeRule,
    &kUnderfilledGpuRule,
    &kSmallBatchRule,
    &kAllocatorChurnRule,
    &kMemoryLeakRule,
    &kMemorySpikeRule,
    &kFragmentationRule,
    &kExposedCommunicationRule,
    &kTraceUnfitRule,
});
// clang-format on

}  // namespace

std::span<const Rule* const> all_rules() { return kRules; }

std::span<const RuleInfo> rule_infos() {
  static const auto kInfos = [] {
    std::array<RuleInfo, kRules.size()> infos;
    for (std::size_t i = 0; i < kRules.size(); ++i) infos[i] = kRules[i]->info;
    return infos;
  }();
  return kInfos;
}

}  // namespace telltale
