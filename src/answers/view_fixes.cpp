#include "answers/view_fixes.h"

#include <fmt/format.h>

#include <expected>

#include "answers/view_steps.h"
#include "base/amounts.h"
#include "report/compact_json.h"

namespace telltale::answers {

template <typename Fields>
void describe(Fields& fields, const FixesAnswer& answer) {
  const FixedStep& step = answer.step;
  fields.object("FixesAnswer", "A step with some fixes");
  fields.member("before_ns", step.before, "without them, as it would have been without the profiler");
  fields.member("after_ns", step.after, "the same with them, for as many samples");
  fields.member("batch", step.batch, "how many times the samples a batch has with them");
  fields.member("saved_percent", percent_of(step.before - step.after, step.before), "of the step before");
  fields.member("bottleneck", step.bottleneck, "`device` or `host` when it works for most of the step, else `neither`");
}

std::string FixesAnswer::json() const { return compact_json_of(*this); }

Result<FixesAnswer> fixes(const View& view, const FixesRequest& request) {
  const auto analyzed = diagnosis_of(view, request.steps);
  if (!analyzed) return std::unexpected(analyzed.error());
  const Diagnosis& diagnosis = (*analyzed)->diagnosis;
  for (const std::size_t finding : request.findings) {
    if (finding >= diagnosis.findings.size())
      return failure(fmt::format("there is no finding {} (the diagnosis has {})", finding,
                                 counted(static_cast<double>(diagnosis.findings.size()), "finding")));
    if (diagnosis.findings[finding].edit == nullptr)
      return failure(fmt::format("the fix of finding {} cannot be tried. {}", finding,
                                 why_not_tried(diagnosis.findings[finding])));
  }
  return FixesAnswer{diagnosis.fixes->with(request.findings)};
}

}  // namespace telltale::answers
