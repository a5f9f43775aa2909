#include "answers/unpaused.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "base/amounts.h"
#include "trace/unrecorded_steps.h"

namespace telltale::answers {

UnpausedTrace unpaused(std::shared_ptr<const Trace> trace) {
  if (pauses(*trace).empty()) return {std::move(trace), {}};
  std::size_t steps = 0;
  for (const UnrecordedStretch& stretch : unrecorded_steps(*trace))
    if (stretch.when == Unrecorded::kPaused) steps += stretch.took.size();
  return {std::make_shared<const Trace>(without_pauses(*trace)),
          fmt::format("The recorder paused for {}, which show what recording costs; the analysis is about the others.",
                      counted(static_cast<double>(steps), "step"))};
}

}  // namespace telltale::answers
