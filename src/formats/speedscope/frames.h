// The frames that all profiles of a file share: equal ones are written once and named by their number.
#pragma once

#include <cstdint>
#include <vector>

#include "base/interned_values.h"
#include "formats/output/text_writer.h"
#include "trace/side_table.h"
#include "trace/trace.h"

namespace telltale::speedscope {

struct Frame {
  StringId name = kEmptyString;
  std::uint32_t source = UINT32_MAX;  // index of Trace::source_locations
  bool operator==(const Frame&) const = default;
};

inline std::uint64_t hash_value(const Frame& frame) {
  return hash_with(0, std::uint64_t{frame.source} << 32 | frame.name);
}

class Frames {
 public:
  explicit Frames(const Trace& trace) : trace_(trace), sources_(trace.sources) {
    for (EventId event = 0; event < trace.events.size(); ++event)
      if (trace.events.kind[event] != Kind::kInstant) of(event);
  }

  // Quick when events come in ascending order.
  std::uint32_t of(EventId event) {
    const std::uint32_t* source = sources_.find(event);
    return frames_.intern({trace_.events.name[event], source == nullptr ? UINT32_MAX : *source});
  }

  // As a JSON list.
  void write(TextWriter& out) const {
    out << '[';
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      out << (i == 0 ? "\n" : ",\n") << R"({"name":)" << InJson{trace_.strings[frames_[i].name]};
      if (frames_[i].source != UINT32_MAX) {
        const SourceLocation& location = trace_.source_locations[frames_[i].source];
        out << R"(,"file":)" << InJson{trace_.strings[location.file]};
        if (location.line > 0) out << R"(,"line":)" << location.line;
      }
      out << '}';
    }
    out << "\n]";
  }

 private:
  const Trace& trace_;
  SideTableWalk<std::uint32_t> sources_;
  InternedValues<Frame> frames_;
};

}  // namespace telltale::speedscope
