#include "formats/perfetto/packets.h"

namespace telltale::perfetto {
namespace {

// Fields of TracePacket.
enum Field : unsigned {
  kClockSnapshot = 6,
  kTimestamp = 8,
  kSequence = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kIncrementalStateCleared = 41,
  kTrackDescriptor = 60,
  kFirstOfSequence = 87,
};
constexpr unsigned kPacket = 1;  // of Trace
constexpr std::uint64_t kOurSequence = 1;
constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2;  // sequence flags
constexpr std::uint64_t kRealTime = 1, kBootTime = 6;        // clocks; the latter is that of times without a clock

}  // namespace

void Packets::write() {
  packet_.add_unsigned(kSequence, kOurSequence);
  trace_.clear();
  trace_.add_message(kPacket, packet_);
  out_ << trace_.bytes();
  packet_.clear();
}

void Packets::write_start() {
  packet_.add_bool(kIncrementalStateCleared, true);
  packet_.add_unsigned(kSequenceFlags, kStateCleared);
  packet_.add_bool(kFirstOfSequence, true);
  write();
}

void Packets::write_clocks(std::uint64_t time, std::int64_t epoch_ns) {
  enum SnapshotField : unsigned { kClocks = 1, kPrimary = 2 };
  enum ClockField : unsigned { kClock = 1, kTime = 2 };
  ProtoMessage snapshot, clock;
  for (const auto& [id, value] : {std::pair{kBootTime, time}, {kRealTime, static_cast<std::uint64_t>(epoch_ns)}}) {
    clock.clear();
    clock.add_unsigned(kClock, id);
    clock.add_unsigned(kTime, value);
    snapshot.add_message(kClocks, clock);
  }
  snapshot.add_unsigned(kPrimary, kBootTime);
  packet_.add_message(kClockSnapshot, snapshot);
  write();
}

void Packets::write_descriptor(const ProtoMessage& track_descriptor) {
  packet_.add_message(kTrackDescriptor, track_descriptor);
  write();
}

void Packets::write_event(std::uint64_t time, const ProtoMessage& track_event, Interning& interning) {
  packet_.add_unsigned(kTimestamp, time);
  packet_.add_unsigned(kSequenceFlags, kNeedsState);
  if (!interning.pending().empty()) {
    packet_.add_message(kInternedData, interning.pending());
    interning.pending().clear();
  }
  packet_.add_message(kTrackEvent, track_event);
  write();
}

}  // namespace telltale::perfetto
