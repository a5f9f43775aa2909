// What a step would take if parts of it were gone, faster or slower.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "answers/source.h"
#include "answers/spelling.h"
#include "base/error.h"
#include "replay/what_if.h"
#include "report/palette.h"

namespace telltale::answers {

struct WhatIfRequest {
  Source source;
  Spelling spelling = Spelling::kFlags;
  std::vector<std::string> remove;  // patterns
  std::vector<std::string> scale;   // PATTERN=FACTOR
  bool no_sync = false, instant_data = false, graph = false, no_observer = false;
  std::optional<std::string> steps;  // without it those of analyze
};

struct WhatIfAnswer {
  WhatIf what_if;
  std::string remark;  // about steps that nobody asked to leave out; empty when there are none

  std::string json() const;  // telltale.whatif/1
  std::string terminal(const TextStyle& style) const;
};

Result<WhatIfAnswer> what_if(const WhatIfRequest& request);

}  // namespace telltale::answers
