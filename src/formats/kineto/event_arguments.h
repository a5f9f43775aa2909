// The arguments of an event as Kineto writes them: what the trace's side tables hold, and numbers made up so that what
// belongs together is found again.
#pragma once

#include <cstdint>

#include "formats/output/argument_text.h"
#include "formats/output/json_parts.h"
#include "formats/output/text_writer.h"
#include "trace/trace.h"

namespace telltale::kineto {

// The number by which a launch and its device work, or an operator and what it caused, name each other.
inline std::uint64_t link_number(EventId event) { return std::uint64_t{event} + 1; }

// Used by one thread. Quick when events come in ascending order.
class EventArguments {
 public:
  // Both must live as long as this.
  EventArguments(const Trace& trace, CheckedJson& json);

  // Writes `,"args":{…}`, or nothing when there are none.
  void write(EventId event, TextWriter& out);

  // Arguments that are no JSON and could not be written, so far.
  std::uint64_t unwritable() const { return text_.unwritable(); }
  // Links to a cause that no argument can name, so far.
  std::uint64_t unnamed_causes() const { return unnamed_causes_; }

 private:
  void write_links(EventId event, ObjectText& object);
  void write_stream(EventId event, ObjectText& object);

  const Trace& trace_;
  ArgumentText text_;
  std::uint64_t unnamed_causes_ = 0;
};

}  // namespace telltale::kineto
