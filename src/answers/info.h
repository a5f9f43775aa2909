// What a trace holds.
#pragma once

#include <string>

#include "analysis/trace_info.h"
#include "answers/source.h"
#include "base/error.h"
#include "report/palette.h"

namespace telltale::answers {

struct InfoRequest {
  Source source;
};

struct InfoAnswer {
  TraceInfo info;

  std::string json() const;  // telltale.info/1
  std::string terminal(const TextStyle& style) const;
};

Result<InfoAnswer> info(const InfoRequest& request);

}  // namespace telltale::answers
