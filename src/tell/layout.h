// How a .tell file is laid out: what those who write one and those who read one must agree on.
//
// docs/formats/tell.md tells it in prose. Nothing here allocates, throws or needs more than libc: the recorder, which
// lives in other people's processes, uses it too. All numbers are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>

namespace telltale::tell {

inline constexpr unsigned char kMagic[8] = {0x89, 'T', 'E', 'L', 'L', '\r', '\n', '\n'};
inline constexpr std::uint16_t kMajorVersion = 1;  // another one cannot be read
inline constexpr std::uint16_t kMinorVersion = 0;  // a higher one has chunks or fields that may be skipped

struct FileHeader {
  unsigned char magic[8];
  std::uint16_t major_version;
  std::uint16_t minor_version;
  std::uint32_t reserved;  // 0
};
static_assert(sizeof(FileHeader) == 16);

enum class ChunkKind : std::uint16_t {
  kSession = 1,       // pairs of texts: who recorded what, and how
  kStrings = 2,       // texts by number
  kSites = 3,         // what records are about: name, kind, place in the source, fields
  kTracks = 4,        // threads, streams and other lines of time
  kRecords = 5,       // what one thread emitted
  kCalibrations = 6,  // what several clocks showed at once
  kLosses = 7,        // how much was not recorded, and why; cumulative
  kOpenScopes = 8,    // scopes that had begun and not ended on one thread
  kEnd = 9,           // the recording ended as it should
  kIndex = 10,        // where the chunks before it are
  kTable = 11,        // columns of a trace that was complete when it was written
};

enum class Codec : std::uint8_t { kStored = 0, kZstd = 1 };

inline constexpr std::uint32_t kChunkMark = 0x4B4E4843;  // "CHNK"
// A larger payload is damage: nobody writes one.
inline constexpr std::uint32_t kMaxPayloadBytes = 64u << 20;

struct ChunkHeader {
  std::uint32_t mark;  // kChunkMark
  std::uint16_t kind;
  std::uint8_t codec;
  std::uint8_t reserved;       // 0
  std::uint32_t stored_bytes;  // of the payload that follows
  std::uint32_t raw_bytes;     // of the payload once decompressed
  std::uint64_t sequence;      // 0, 1, 2, … in the file
  std::uint32_t payload_crc;   // CRC-32C of the stored payload
  std::uint32_t header_crc;    // CRC-32C of the 28 bytes before it
};
static_assert(sizeof(ChunkHeader) == 32);

// The last bytes of a file that ended as it should.
struct Trailer {
  std::uint64_t last_index;  // byte offset of the last index chunk's header
  unsigned char magic[8];
};
static_assert(sizeof(Trailer) == 16);
inline constexpr unsigned char kTrailerMagic[8] = {'T', 'E', 'L', 'L', 'E', 'N', 'D', '\n'};

// What one record of a kRecords chunk is.
enum class RecordType : std::uint8_t {
  kSpan = 0,           // a scope on the recording thread: start, duration
  kInstant = 1,        // a mark
  kCounter = 2,        // a value over time
  kAllocation = 3,     // bytes got (positive) or given back (negative)
  kFlowStart = 4,      // an arrow leaves the scope around it
  kFlowStep = 5,       // an arrow passes through the scope around it
  kFlowEnd = 6,        // an arrow ends in the scope around it
  kAsyncBegin = 7,     // a span that belongs to no thread begins
  kAsyncEnd = 8,       // … and ends
  kStep = 9,           // a training or serving step: start, duration, number
  kSpanOnTrack = 10,   // a span on another track: start, duration, track, correlation
  kBeginOnTrack = 11,  // begins a span on another track
  kEndOnTrack = 12,    // ends the innermost one there
};
inline constexpr int kRecordTypeCount = 13;

// The columns of a kRecords payload, in this order; each is its length in bytes (varint), then its bytes.
enum class RecordColumn : std::uint8_t {
  kTypes = 0,      // one byte a record
  kSites = 1,      // varint a record: the site, or for kAllocation the string number of the pool
  kTimes = 2,      // zigzag varint a record: difference to the record before, in units of the track's clock
  kDurations = 3,  // varint for each record that has one
  kExtras = 4,     // what the type asks for beyond that, see docs/formats/tell.md
  kValues = 5,     // the fields of the record's site
};
inline constexpr int kRecordColumnCount = 6;

// How a field of a site stands in kValues.
enum class FieldType : std::uint8_t {
  kInteger = 0,  // zigzag varint
  kFloat = 1,    // 8 bytes, IEEE 754
  kText = 2,     // varint length, bytes (UTF-8)
  kShape = 3,    // varint number of dimensions, zigzag varint each
  kName = 4,     // varint number of a text
};

// What a site's records are. Numbers are part of the file format and of the C API (telltale_kind).
enum class SiteKind : std::uint8_t {
  kScope = 0,
  kFunction = 1,
  kAnnotation = 2,
  kOperator = 3,
  kPython = 4,
  kModule = 5,
  kRuntime = 6,
  kDriver = 7,
  kKernel = 8,
  kMemcpy = 9,
  kMemset = 10,
  kSync = 11,
  kCollective = 12,
  kOverhead = 13,
  kOther = 14,
  kDeviceAnnotation = 15,
};
inline constexpr int kSiteKindCount = 16;

enum class TrackType : std::uint8_t { kThread = 0, kStream = 1, kCustom = 2 };

// In which clock the times of a track are.
enum class TrackClock : std::uint8_t {
  kTicks = 0,        // the recorder's own clock, see kCalibrations
  kMonotonicNs = 1,  // CLOCK_MONOTONIC
  kRealtimeNs = 2,   // CLOCK_REALTIME
};

// Why something that was emitted is not in the file.
enum class LossReason : std::uint8_t {
  kNewestDropped = 0,  // no memory left: the new record was left out
  kOldestDropped = 1,  // no memory left: an older, unwritten record made place
  kInSignal = 2,       // emitted by a signal handler that interrupted the recorder itself
  kWriteFailed = 3,    // the file could not be written
  kAgedOut = 4,        // older than what the flight recorder keeps
  kTooLarge = 5,       // a record with more values than a buffer holds
  // These two count what is recorded, but not as it was emitted; so does the last one.
  kValueCut = 6,     // a text or shape that no buffer holds: its beginning is there
  kOpenNotKept = 7,  // a scope deeper than those that are told of while they are open
  kGivenUp = 8,      // its thread did not leave the recorder for a second after the end of the recording
  kNameNotKept = 9,  // a name, or a pair of the session, for which there was no memory left
};
inline constexpr int kLossReasonCount = 10;

enum class EndReason : std::uint8_t { kStopped = 0, kCycleEnded = 1, kExit = 2, kDumped = 3 };

}  // namespace telltale::tell
