#include "answers/view_roofline.h"

#include <expected>

#include "analysis/gpu_peaks.h"
#include "answers/view_steps.h"
#include "report/compact_json.h"
#include "report/kernel_name.h"
#include "report/text_width.h"

namespace telltale::answers {
namespace {

constexpr std::size_t kMostKernels = 2000;
constexpr std::size_t kWidestName = 160, kLongestName = 2000, kLongestSignature = 20'000;

struct Peak {
  std::string_view precision;
  double flops_per_second = 0;
};

std::vector<Peak> peaks_in(const std::optional<GpuPeaks>& peaks) {
  if (!peaks) return {};
  std::vector<Peak> found;
  for (const Peak& peak :
       {Peak{"fp64", peaks->fp64_flops}, Peak{"fp32", peaks->fp32_flops}, Peak{"tf32", peaks->tf32_flops},
        Peak{"fp16, bf16", peaks->half_flops}, Peak{"fp8", peaks->fp8_flops}, Peak{"int8", peaks->int8_flops}})
    if (peak.flops_per_second > 0) found.push_back(peak);
  return found;
}

template <typename Fields>
void describe(Fields& fields, const Peak& peak) {
  fields.object("Peak", "What a device computes at best");
  fields.member("precision", peak.precision, "of the numbers");
  fields.member("flops_per_second", peak.flops_per_second, "at best");
}

struct Dot {
  const KernelRow* row = nullptr;
};

template <typename Fields>
void describe(Fields& fields, const Dot& dot) {
  const KernelRow& row = *dot.row;
  fields.object("RooflineKernel", "Device work of one name and class");
  fields.member("name", cut_to_width(printable(short_kernel_name(row.name.substr(0, kLongestSignature))), kWidestName),
                "short enough to read");
  fields.member("full_name", cut_to_width(printable(row.name.substr(0, kLongestSignature)), kLongestName),
                "as the recorder has it");
  fields.member("work", row.work, "its class");
  fields.member("precision", row.traits.precision, "of its numbers");
  fields.member("color", color_index(row.work), "its place among the colors");
  fields.member("device_ns", row.device_ns, "a step, summed over calls");
  fields.member("calls", row.calls, "in all steps together");
  const bool has_flops = row.flops_per_second.value_or(0) > 0;
  fields.member("bytes_per_second", *row.bytes_per_second, "by the shapes of its operator");
  fields.member("flops_per_second", has_flops ? row.flops_per_second : std::nullopt, "likewise; null: not known");
  fields.member("flops_per_byte",
                has_flops ? std::optional(Exact{*row.flops_per_second / *row.bytes_per_second}) : std::nullopt,
                "likewise");
  fields.member("roofline_percent", row.roofline_percent, "100 is as fast as the device's peaks allow");
  fields.member("example", row.example, "its longest call");
}

bool is_known(const KernelRow& row) { return row.bytes_per_second.value_or(0) > 0 && row.example != kNoEvent; }

}  // namespace

template <typename Fields>
void describe(Fields& fields, const RooflineAnswer& answer) {
  const KernelSummary& kernels = answer.analyzed->diagnosis.kernels;
  std::vector<Dot> dots;
  for (const std::size_t row : answer.shown) dots.push_back({&kernels.rows[row]});
  fields.object("Roofline", "Kernels below what the device can do at best");
  fields.member("device", answer.device, "its name");
  fields.member("bytes_per_second", kernels.peaks ? std::optional(kernels.peaks->memory_bytes) : std::nullopt,
                "that its memory gives at best; null: not known");
  fields.member("peaks", peaks_in(kernels.peaks), "what it computes at best");
  fields.member("kernels", dots, "by falling time");
  fields.member("left_out_ns", answer.left_out_ns, "a step, of kernels whose bytes are not known");
}

std::string RooflineAnswer::json() const { return compact_json_of(*this); }

Result<RooflineAnswer> roofline(const View& view, const RooflineRequest& request) {
  const auto analyzed = diagnosis_of(view, request.steps);
  if (!analyzed) return std::unexpected(analyzed.error());
  const Diagnosis& diagnosis = (*analyzed)->diagnosis;
  RooflineAnswer answer{.analyzed = *analyzed};
  if (!diagnosis.devices.empty()) answer.device = diagnosis.devices.front().name;
  for (std::size_t i = 0; i < diagnosis.kernels.rows.size(); ++i) {
    const KernelRow& row = diagnosis.kernels.rows[i];
    if (is_known(row) && answer.shown.size() < kMostKernels)
      answer.shown.push_back(i);
    else
      answer.left_out_ns += row.device_ns;
  }
  return answer;
}

}  // namespace telltale::answers
