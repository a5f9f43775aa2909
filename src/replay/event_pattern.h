// Events as a user names them: by kind, and by a name in which * and ? stand for what may differ.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/step_timing.h"
#include "trace/trace.h"

namespace telltale {

struct EventPattern {
  std::optional<Kind> kind;  // any that is replayed where it is absent
  std::string name;          // * stands for any text, ? for one character, all else for itself
};

// "kernel:*gemm*", "aten::mm"
std::string text_of(const EventPattern& pattern);

// Whether all of a name is as a pattern says. Upper and lower case differ.
bool matches_pattern(std::string_view name, std::string_view pattern);

// Whether events of the kind take time in a replay: host calls and device work do; marks, spans about the recording and
// what a device's tracer reports beside the work do not.
bool is_replayed(Kind kind);

// Host events that begin in a step and device work launched in one, by id. Linear in events; each distinct name is
// compared once.
std::vector<EventId> events_matching(const Trace& trace, const StepTiming& timing, const EventPattern& pattern);

}  // namespace telltale
