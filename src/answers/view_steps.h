// Which steps a question about an opened trace is about, and their diagnosis: worked out when first asked for.
#pragma once

#include <memory>

#include "answers/view.h"
#include "answers/view_kept.h"
#include "base/error.h"
#include "base/intervals.h"

namespace telltale::answers {

Result<std::shared_ptr<const ChosenSteps>> chosen_steps(const View& view, const StepsText& steps);

// What `telltale analyze` says of them, but for lists that no view shows. Takes as long as that.
Result<std::shared_ptr<const AnalyzeAnswer>> diagnosis_of(const View& view, const StepsText& steps);

// Whether that is known already.
bool has_diagnosis_of(const View& view, const StepsText& steps);

// Time by line of the program.
Result<std::shared_ptr<const LineTimes>> lines_of(const View& view, const StepsText& steps);

Result<std::shared_ptr<const FullTable>> full_table(const View& view, const TableKey& key);

// When the steps are on the clock of the recording, which does not stop while the recorder pauses.
Interval recorded_window(const View& view, const StepTiming& timing);

}  // namespace telltale::answers
