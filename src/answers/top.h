// What took the time, as torch.profiler's key_averages() has it: sorted, and as many rows as were asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/key_averages.h"
#include "analysis/sort_key.h"
#include "answers/source.h"
#include "answers/spelling.h"
#include "base/error.h"
#include "report/palette.h"

namespace telltale::answers {

struct TopRequest {
  Source source;
  Spelling spelling = Spelling::kFlags;
  std::optional<std::string> by;                  // a word for rows; torch's own rows without it
  std::optional<std::vector<std::string>> kinds;  // or the kinds of events that have rows
  std::string group = "name";
  std::int64_t stack_depth = 5;
  std::optional<std::string> steps;
  std::optional<std::string> sort;    // device time without it, CPU time where there is none
  std::optional<std::int64_t> limit;  // 0: all rows. Without it all, but on a screen no more than fit there.
  bool has_full_names = false;        // on a screen
};

struct TopAnswer {
  KeyAverages averages;
  SortKey sorted_by = SortKey::kSelfCpu;
  std::size_t all_rows = 0;  // before the limit
  bool is_limited = false;   // somebody said how many rows to show
  bool has_full_names = false;

  std::string json() const;  // telltale.top/1
  std::string csv() const;
  std::string terminal(const TextStyle& style) const;
};

Result<TopAnswer> top(const TopRequest& request);

// "self-cpu, cpu, … or name": what `sort` may be.
std::string sort_words();

}  // namespace telltale::answers
