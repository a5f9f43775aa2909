// The document around the event list: an object with other values before and behind it, or the bare list.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace telltale::kineto {

// Top-level values as compact JSON, in the order of the file.
using TopLevelValues = std::vector<std::pair<std::string, std::string>>;

enum class HeadStatus : std::uint8_t {
  kEvents,      // the event list starts at `position`, behind its opening bracket
  kIncomplete,  // the text ends before the list starts; more of it may help
  kNoEvents,    // a whole object without an event list
  kNotATrace,   // not JSON, or JSON of another shape
};

struct Head {
  HeadStatus status = HeadStatus::kNotATrace;
  std::size_t position = 0;
  bool is_bare_list = false;
  TopLevelValues values;
};

// `text` is the beginning of the file, followed by padding (see scan.h).
Head parse_head(std::string_view text, Anomalies& anomalies);

// What stands behind the event list. Adds to `values`.
void parse_tail(std::string_view text, std::uint64_t byte_offset, bool is_bare_list, TopLevelValues& values,
                Anomalies& anomalies);

// Devices, distributed information and what was recorded, out of the values, which lose what is understood;
// the rest becomes Trace::metadata. Returns the wall-clock time of time 0 of the file's clock, if the file says it.
std::optional<std::int64_t> interpret(TopLevelValues values, Trace& trace);

}  // namespace telltale::kineto
