// The arguments of an event as Kineto writes them: what the trace's side tables hold, and numbers made up so that what
// belongs together is found again.
#pragma once

#include <cstdint>

#include "formats/kineto/checked_json.h"
#include "formats/kineto/object_text.h"
#include "formats/output/text_writer.h"
#include "trace/details.h"
#include "trace/trace.h"

namespace telltale::kineto {

// The number by which a launch and its device work, or an operator and what it caused, name each other.
inline std::uint64_t link_number(EventId event) { return std::uint64_t{event} + 1; }

// Used by one thread. Quick when events come in ascending order.
class ArgumentText {
 public:
  // The numbers that tie events together, and where they stand, may be left out.
  enum class Links : bool { kLeftOut, kWritten };
  ArgumentText(const Trace& trace, CheckedJson& json, Links links = Links::kWritten);

  // Writes `,"args":{…}`, or nothing when there are none.
  void write(EventId event, TextWriter& out);

  // Arguments that are no JSON and could not be written, so far.
  std::uint64_t unwritable() const { return unwritable_; }
  // Links to a cause that no argument can name, so far.
  std::uint64_t unnamed_causes() const { return unnamed_causes_; }

 private:
  void write_links(EventId event, ObjectText& object);
  void write_operator(EventId event, ObjectText& object);
  void write_inputs(const OperatorInputs& inputs, ObjectText& object);
  void write_source(EventId event, ObjectText& object);
  void write_device_work(EventId event, ObjectText& object);
  void write_stream(EventId event, ObjectText& object);
  void write_copy(EventId event, const CopyInfo& copy, ObjectText& object);
  void write_collective(const CollectiveInfo& info, ObjectText& object);
  // Other arguments that are no object, but a list or a number, are all there is.
  bool write_bare_value(EventId event, TextWriter& out);

  const Trace& trace_;
  CheckedJson& json_;
  bool has_links_;
  DetailWalks details_;
  std::uint64_t unwritable_ = 0, unnamed_causes_ = 0;
};

}  // namespace telltale::kineto
