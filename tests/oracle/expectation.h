// What a hand-written file must give, as facts in plain text: see tests/traps/README.md for how to write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "trace/trace.h"

namespace telltale::oracle {

// One line: "event | aten::mm | kind operator | parent none" has the subject "event" and three more fields.
struct Fact {
  int line = 0;
  std::vector<std::string> fields;
};

std::vector<Fact> parse_facts(std::string_view text);

// One sentence for each fact that does not hold, and for each anomaly that was met and not foretold. Empty when all is
// as expected. `file_text` is where "at …" of an anomaly is looked up.
std::vector<std::string> broken_facts(const std::vector<Fact>& facts, const Result<Trace>& result,
                                      std::string_view file_text);

}  // namespace telltale::oracle
