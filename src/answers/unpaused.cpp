#include "answers/unpaused.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "base/amounts.h"
#include "trace/unrecorded_steps.h"

namespace telltale::answers {

UnpausedTrace unpaused(std::shared_ptr<const Trace> trace) {
  if (pauses(*trace).empty()) return {std::move(trace), {}};
  std::int64_t steps = 0;
  for (const UnrecordedStretch& stretch : unrecorded_steps(*trace))
    if (stretch.when == Unrecorded::kPaused) steps += std::ssize(stretch.took);
  return {
      std::make_shared<const Trace>(without_pauses(*trace)),
      fmt::format("The recorder left {} of {} out, so that recording costs little; the analysis is about the others.",
                  format_count(steps), counted(static_cast<double>(steps + std::ssize(trace->steps)), "step"))};
}

}  // namespace telltale::answers
