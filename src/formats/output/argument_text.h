// What the side tables of a trace hold about an event, as the members of a JSON object.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "formats/output/json_parts.h"
#include "formats/output/text_writer.h"
#include "trace/attributes.h"
#include "trace/details.h"
#include "trace/trace.h"

namespace telltale {

// Used by one thread. Quick when events come in ascending order.
class ArgumentText {
 public:
  // How a format spells an attribute; never asked about kUnknown.
  using Spelling = std::string_view (*)(Attribute);

  // All must live as long as this.
  ArgumentText(const Trace& trace, CheckedJson& json, Spelling spelling)
      : trace_(trace), json_(json), spelling_(spelling), details_(trace) {}

  // Some files have a list or a number in place of arguments, which is then all there is; else empty.
  std::string_view bare_value(EventId event);
  // What an operator and its place in the program are.
  void write_host_side(EventId event, ObjectText& object);
  // What device work and collectives are, and what no column holds.
  void write_rest(EventId event, ObjectText& object);

  // Starts a member: its value is to be written next.
  TextWriter& start(ObjectText& object, Attribute attribute) { return object.member(spelling_(attribute)); }

  // Arguments that are no JSON and could not be written, so far.
  std::uint64_t unwritable() const { return unwritable_; }

 private:
  void write_operator(EventId event, ObjectText& object);
  void write_inputs(const OperatorInputs& inputs, ObjectText& object);
  void write_source(EventId event, ObjectText& object);
  void write_device_work(EventId event, ObjectText& object);
  void write_copy(EventId event, const CopyInfo& copy, ObjectText& object);
  void write_collective(const CollectiveInfo& info, ObjectText& object);

  void add_text(ObjectText& object, Attribute attribute, std::string_view text);
  void add_number_unless(std::int64_t absent, ObjectText& object, Attribute attribute, std::int64_t number);
  void add_real(ObjectText& object, Attribute attribute, float number);
  void add_sizes(ObjectText& object, Attribute attribute, const std::array<std::int32_t, 3>& sizes);

  const Trace& trace_;
  CheckedJson& json_;
  Spelling spelling_;
  DetailWalks details_;
  std::uint64_t unwritable_ = 0;
};

}  // namespace telltale
