// The document around the event list: an object with other values before and behind it, or the bare list.
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/anomalies.h"
#include "trace/recording_facts.h"

namespace telltale::kineto {

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
  NamedValues values;
};

// `text` is the beginning of the file, followed by padding (see scan.h).
Head parse_head(std::string_view text, Anomalies& anomalies);

// What stands behind the event list. Adds to `values`.
void parse_tail(std::string_view text, std::uint64_t byte_offset, bool is_bare_list, NamedValues& values,
                Anomalies& anomalies);

}  // namespace telltale::kineto
