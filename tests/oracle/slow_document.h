// A trace's text taken apart into events and top-level values, one at a time and by name. The first half of the slow
// reader: what the file says, before anything is sorted or linked.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "exact_decimal.h"
#include "json_pieces.h"
#include "trace/anomalies.h"

namespace telltale::oracle {

// A pid, tid or id: a number, or text that is none.
struct SlowId {
  std::int64_t number = 0;
  std::string text;
  auto operator<=>(const SlowId&) const = default;
};

struct SlowEvent {
  std::uint64_t byte_offset = 0;  // also its place in the file's order
  char phase = 0;
  std::string category, name;
  SlowId process, thread, id;
  bool has_text_process = false;
  Nanoseconds time = 0;
  Nanoseconds duration = 0;
  bool binds_to_enclosing = false;  // bp:"e"
  std::vector<JsonMember> arguments;
  std::string_view raw_arguments;  // also when they are no object; empty when there are none
};

struct SlowDocument {
  std::vector<SlowEvent> events;
  std::vector<JsonMember> header;  // top-level values other than the events, in the order of the file
  Anomalies anomalies;
};

// Nothing when the text is not valid JSON or holds no list of events. The result points into `text`.
std::optional<SlowDocument> slow_document(std::string_view text);

// The number that a value is, or that its text holds, times ten to the power of `shift`.
ExactInteger number_in(std::string_view raw, int shift = 0);

// The text that a value is; a value of any other type stands for itself, as it is written.
std::string text_of(std::string_view raw);

}  // namespace telltale::oracle
