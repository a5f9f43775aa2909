// The packets of one sequence, in the order in which they are written.
#pragma once

#include <cstdint>

#include "formats/output/text_writer.h"
#include "formats/perfetto/interning.h"
#include "formats/perfetto/proto_message.h"

namespace telltale::perfetto {

// The kinds of TrackEvent.
enum class EventType : unsigned { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4 };

class Packets {
 public:
  explicit Packets(TextWriter& out) : out_(out) {}

  // The first packet of all: what follows needs nothing of what came before.
  void write_start();
  // What clock the times are of: one that starts with the trace, and the time of day at its `time`.
  void write_clocks(std::uint64_t time, std::int64_t epoch_ns);
  void write_descriptor(const ProtoMessage& track_descriptor);
  // With the definitions of the strings that it is the first to use.
  void write_event(std::uint64_t time, const ProtoMessage& track_event, Interning& interning);

  bool has_failed() const { return out_.has_failed(); }

 private:
  void write();

  TextWriter& out_;
  ProtoMessage packet_, trace_;
};

}  // namespace telltale::perfetto
