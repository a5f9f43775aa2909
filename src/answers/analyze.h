// Why it is slow, at which line, and what each fix would buy.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "advise/diagnosis.h"
#include "answers/chosen_steps.h"
#include "answers/source.h"
#include "answers/spelling.h"
#include "answers/unpaused.h"
#include "base/error.h"
#include "report/palette.h"
#include "trace/trace.h"

namespace telltale::answers {

struct AnalyzeRequest {
  Source source;
  Spelling spelling = Spelling::kFlags;
  std::optional<std::string> steps;  // without it all but those that warm up, see chosen_steps.h
  std::vector<std::string> rules;    // only what these find; all when empty
  double min_saving = 1;             // leaves out what would save less than this share of a step, in percent
  std::optional<double> price;       // money for a kilowatt-hour
  std::optional<double> carbon;      // grams of CO2 for a kilowatt-hour
  std::string page;                  // the file that also gets the answer as HTML; none when empty
};

struct AnalyzeAnswer {
  Diagnosis diagnosis;
  std::shared_ptr<const Trace> trace;  // the one that was diagnosed

  std::string json() const;  // telltale.analyze/1
  std::string markdown() const;
  std::string html() const;
  std::string terminal(const TextStyle& style) const;
};

Result<AnalyzeAnswer> analyze(const AnalyzeRequest& request);

// The same of a trace that is in memory, where a choice is known to leave something of it.
AnalyzeAnswer analyzed(const Source& source, const UnpausedTrace& unpaused, const StepChoice& choice,
                       DiagnosisOptions options = {});

}  // namespace telltale::answers
