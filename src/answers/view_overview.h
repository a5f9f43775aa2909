// The first thing that one sees of a trace: the diagnosis, in the words of the report.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "answers/event_place.h"
#include "answers/view.h"
#include "answers/view_colors.h"
#include "answers/view_kept.h"
#include "base/error.h"
#include "base/intervals.h"

namespace telltale::answers {

struct OverviewRequest {
  StepsText steps;
};

// What the report says of a finding besides what telltale.analyze/1 has.
struct FindingWords {
  std::string saving, range, where, doubt, also;
  std::vector<EventPlace> places;
  bool can_be_tried = false;
  std::string why_not_tried;
};

// A part of the bar.
struct BarPart {
  std::string_view word;
  ColorIndex color = 0;
  Nanoseconds ns = 0;
  double percent = 0;
  bool is_idle = false;
};

struct OverviewAnswer {
  std::shared_ptr<const AnalyzeAnswer> analyzed;
  std::string headline_step, headline_filling;
  std::string subject, recording_cost, remarks, look, nothing_found;
  std::string steps;  // "3..7"; empty where the trace has none to choose from
  Interval window;    // on the clock of the recording
  std::vector<BarPart> breakdown;
  std::vector<FindingWords> findings;

  std::string json() const;
};

// Takes as long as `telltale analyze` when it is first asked.
Result<OverviewAnswer> overview(const View& view, const OverviewRequest& request);

}  // namespace telltale::answers
