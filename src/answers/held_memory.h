// What holds the memory of a program, what grows, and what would free some.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "advise/memory_report.h"
#include "answers/source.h"
#include "answers/spelling.h"
#include "base/error.h"
#include "report/palette.h"
#include "trace/trace.h"

namespace telltale::answers {

// Why a trace without memory events has no answer, and what to do.
std::string no_memory_words(const Trace& trace);

struct HeldMemoryRequest {
  Source source;
  Spelling spelling = Spelling::kFlags;
  std::string page;  // the file that also gets the answer as HTML; none when empty
};

struct HeldMemoryAnswer {
  MemoryReport report;
  std::shared_ptr<const Trace> trace;  // the one that it is about

  std::string json() const;  // telltale.memory/1
  std::string markdown() const;
  std::string html() const;
  std::string terminal(const TextStyle& style) const;
};

// One sentence about what to record where the trace has no memory.
Result<HeldMemoryAnswer> held_memory(const HeldMemoryRequest& request);

}  // namespace telltale::answers
