// The words that all views of a memory report share, so that terminal, Markdown and page say the same.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "advise/memory_report.h"
#include "report/palette.h"

namespace telltale {

Color color_of(MemoryUse use);

// In which order a stacked curve has them, from the ground up: what stays first, what comes and goes last.
std::span<const MemoryUse> stacked_uses();

// "train.json.gz · NVIDIA H200 · 3 steps"
std::string memory_subject(const MemoryReport& report);

// "GPU 0", or "GPU" where there is one; "the host"
std::string device_label(const MemoryReport& report, const DeviceCauses& device);

// "GPU 0 has 12.3 GiB allocated at most, of 80 GiB (15 %), and 14.0 GiB reserved."
std::string peak_sentence(const MemoryReport& report, const DeviceCauses& device);
// The same of the fullest device, and what fills it, for those who asked something else; empty where there is none.
std::string peak_sentence(const Diagnosis& diagnosis);
std::string held_sentence(const Diagnosis& diagnosis);
// "At the peak", or "In the snapshot" where that has no history.
std::string_view peak_heading(const DeviceCauses& device);
// "That is at 1.23 s, in aten::mm of Linear_3, at model.py:12 in forward."; empty where nothing is known.
std::string peak_place_sentence(const DeviceCauses& device);
// "All 5 steps peak at 12.3 GiB." or which ones differ; empty where there are no steps.
std::string steps_sentence(const DeviceCauses& device);
// "Of what is reserved, 1.20 GiB are free: …"; empty where it is not known, or hardly any.
std::string fragmentation_sentence(const DeviceCauses& device);
// "Live blocks that keep free memory apart were made at cache.py:3 in keep (…)."; empty where they are not known, or
// keep hardly any apart.
std::string pinning_sentence(const DeviceCauses& device);
// "train.py:31 in step leaves 4.00 MiB behind in every step …", or "Process 1234, a worker of the data loader, grows by
// …"
std::string leak_sentence(const MemoryReport& report, const MemoryLeak& leak);
// "Kept alive by variable 'log' of main (train.py:3) → list of 20 → Tensor [128, 64]."; empty where nobody looked.
std::string keeper_sentence(const MemoryLeak& leak);
// "Of the largest, 2 are kept alive by variable 'cache' of main (gen.py:3) → list of 20.": of those at the peak, but
// for what leaks, which has sentences of its own; empty where nothing is known of that.
std::string tensor_keepers_sentence(const DeviceCauses& device);
// Those of processes stand behind those of tensors, as what they hold is not known.
std::vector<const MemoryLeak*> tensor_leaks(const MemoryReport& report);
std::vector<const MemoryLeak*> process_leaks(const MemoryReport& report);
// How much of what stands at the peak the program itself named; empty where it named nothing.
std::string certainty_sentence(const DeviceCauses& device);

// "aten::mm, Linear_3, model.py:12 in forward": who made it, as far as it is known.
std::string maker_text(const PeakTensor& tensor);
std::string line_text(const LineBytes& line);
// "MmBackward0": the operator that used it last, "stays" where it is not freed, "not known".
std::string last_use_text(const PeakTensor& tensor);
inline constexpr std::string_view kLastUse =
    "Last used by the operator during which it was freed; what stays is not freed within the recording.";

// Those to show: without the host's where that has next to nothing beside a device's.
std::vector<const DeviceCauses*> shown_devices(const MemoryReport& report);
// Whether the lines of most of what stands there are known at all.
bool knows_lines(const DeviceCauses& device);

}  // namespace telltale
