// What holds the memory of a program, what grows, and what would free some.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "advise/memory_report.h"
#include "answers/source.h"
#include "answers/spelling.h"
#include "base/error.h"
#include "memory/segment_map.h"
#include "memory/standing_stacks.h"
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

  // What the allocator holds at the peak, by device of the causes; empty where no log was recorded.
  std::vector<std::vector<MappedSegment>> segments() const;

  // What stands at the peak of each device by the calls that made it; the outermost are devices where there are
  // several.
  StandingStacks stacks(const FlameOptions& options) const;

  std::string json() const;  // telltale.memory/1
  std::string markdown() const;
  std::string html() const;
  std::string collapsed() const;  // stacks and the bytes of each, as flame graphs are drawn from
  std::string terminal(const TextStyle& style) const;
};

// One sentence about what to record where the trace has no memory.
Result<HeldMemoryAnswer> held_memory(const HeldMemoryRequest& request);

}  // namespace telltale::answers
