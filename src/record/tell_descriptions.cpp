// The chunks of a .tell file that describe what its records are about.
#include <cstring>

#include "record/tell_file.h"
#include "tell/varint.h"

namespace telltale::record {
namespace {

using tell::ChunkKind;

constexpr std::size_t kMaxSessionText = 4 << 10;
constexpr std::uint64_t kDigestFactor = 0x9E3779B97F4A7C15;
constexpr std::size_t kCountBytes = 2 * tell::kMaxVarintBytes;

unsigned char* put_text(unsigned char* at, const char* text, std::size_t size) {
  at = tell::put_varint(at, size);
  std::memcpy(at, text, size);
  return at + size;
}

unsigned char* put_site(unsigned char* at, const Names& names, const Site& site) {
  for (const std::uint32_t number : {site.name, site.category, site.file, site.function, site.line})
    at = tell::put_varint(at, number);
  *at++ = static_cast<unsigned char>(site.kind);
  at = tell::put_varint(at, site.field_count);
  for (std::uint32_t i = 0; i < site.field_count; ++i) {
    const Field& field = names.fields()[site.first_field + i];
    at = tell::put_varint(at, field.name);
    *at++ = static_cast<unsigned char>(field.type);
  }
  return at;
}

unsigned char* put_track(unsigned char* at, const NamedTrack& track) {
  at = tell::put_varint(at, track.number);
  *at++ = static_cast<unsigned char>(track.type);
  *at++ = static_cast<unsigned char>(track.clock);
  at = tell::put_varint(at, tell::zigzag(track.device));
  at = tell::put_varint(at, tell::zigzag(track.native_id));
  at = tell::put_varint(at, track.name);
  return tell::put_varint(at, tell::zigzag(track.order));
}

}  // namespace

void TellFile::add_chunk(ChunkKind kind, const unsigned char* end_of_scratch) {
  Pending about{};
  about.kind = kind;
  add_chunk(scratch_, static_cast<std::size_t>(end_of_scratch - scratch_), about);
}

void TellFile::set_session(const SessionPair* pairs, std::size_t count, std::uint64_t began) {
  session_began_ = began;
  session_ = pairs;
  session_count_ = count;
}

void TellFile::add_to_session(const SessionPair* pairs, std::size_t count) {
  unsigned char* at = tell::put_varint(scratch_, count);
  for (std::size_t i = 0; i < count && at < scratch_end(); ++i) {
    at = put_text(at, pairs[i].key, strnlen(pairs[i].key, kMaxSessionText));
    at = put_text(at, pairs[i].value, strnlen(pairs[i].value, kMaxSessionText));
  }
  add_chunk(ChunkKind::kSession, at);
}

template <typename Put>
void TellFile::add_list(ChunkKind kind, std::uint32_t& written, std::uint32_t count, Put put) {
  while (written < count) {
    unsigned char* const body = scratch_ + kCountBytes;
    unsigned char* at = body;
    const std::uint32_t first = written;
    while (written < count && at < scratch_end()) at = put(at, written++);
    // Tracks have numbers of their own; texts and sites are numbered by their place.
    unsigned char* head = kind == ChunkKind::kTracks ? scratch_ : tell::put_varint(scratch_, first + 1);
    head = tell::put_varint(head, written - first);
    std::memmove(head, body, static_cast<std::size_t>(at - body));
    add_chunk(kind, head + (at - body));
  }
}

void TellFile::add_names(const Names& names) {
  if (is_undescribed_) {
    texts_written_ = sites_written_ = tracks_written_ = 0;
    is_undescribed_ = false;
    repeat_session();
  }
  // Counted from what names others to what is named: a site that is numbered meanwhile waits for the next time, and all
  // texts of those counted have their numbers.
  const std::uint32_t tracks = names.tracks().size(), sites = names.sites().size(), texts = names.texts().size();
  add_list(ChunkKind::kStrings, texts_written_, texts, [&](unsigned char* at, std::uint32_t i) {
    return put_text(at, names.texts()[i].data, names.texts()[i].size);
  });
  add_list(ChunkKind::kSites, sites_written_, sites,
           [&](unsigned char* at, std::uint32_t i) { return put_site(at, names, names.sites()[i]); });
  add_list(ChunkKind::kTracks, tracks_written_, tracks,
           [&](unsigned char* at, std::uint32_t i) { return put_track(at, names.tracks()[i]); });
}

void TellFile::add_thread(ThreadState& thread, const Names& names) {
  if (thread.described_in < first_description_) thread.records_in_file = thread.open_digest = 0;
  const std::uint32_t name = thread.name.load(std::memory_order_acquire);
  add_names(names);
  unsigned char* at = tell::put_varint(scratch_, 1);
  at = put_track(at, {thread.track, TELLTALE_TRACK_TYPE_THREAD, TELLTALE_CLOCK_TICKS, -1, 0, thread.tid, name});
  add_chunk(ChunkKind::kTracks, at);
  thread.described_in = last_description;
  thread.described_name = name;
}

std::uint64_t TellFile::describe_thread(ThreadState& thread, const Names& names) {
  if (thread.described_in != last_description || thread.described_name != thread.name.load(std::memory_order_relaxed))
    add_thread(thread, names);
  return thread.records_in_file;
}

void TellFile::add_records(ThreadState& thread, const EncodedRecords& records) {
  if (records.records == 0) return;
  if (is_undescribed_) {  // the disk failed in this very moment
    losses_->add(tell::LossReason::kWriteFailed, records.records);
    return;
  }
  Pending about{};
  about.kind = ChunkKind::kRecords;
  about.owner = &thread;
  about.records = records.records;
  about.track = thread.track;
  about.earliest = records.earliest;
  about.latest = records.latest;
  thread.records_in_file += records.records;
  add_chunk(records.payload, records.size, about);
}

void TellFile::add_open_scopes(ThreadState& thread, std::uint64_t ticks, std::uint64_t begun_before,
                               const Names& names) {
  struct Open {
    std::uint64_t start;
    std::uint32_t site;
  } open[kMaxOpenScopes];
  std::uint32_t count = 0;
  const std::uint32_t depth = thread.depth.load(std::memory_order_acquire);
  std::uint64_t digest = 0;
  for (std::uint32_t i = 0; i < depth && i < kMaxOpenScopes; ++i) {
    const OpenScope& scope = thread.open[i];
    const Open seen{scope.start.load(std::memory_order_acquire), scope.site.load(std::memory_order_acquire)};
    // The thread goes on meanwhile: from the first scope that changes or is too young, the rest is of no interest.
    if (seen.start >= begun_before || scope.start.load(std::memory_order_acquire) != seen.start) break;
    if (seen.start < session_began_) continue;
    open[count++] = seen;
    digest = digest * kDigestFactor + seen.start + seen.site;
  }
  if (count == 0 && thread.described_in < first_description_) return;
  describe_thread(thread, names);
  if (digest == thread.open_digest) return;
  thread.open_digest = digest;
  unsigned char* at = tell::put_varint(scratch_, thread.track);
  at = tell::put_fixed64(at, ticks);
  at = tell::put_varint(at, count);
  for (std::uint32_t i = 0; i < count; ++i) {
    at = tell::put_varint(at, open[i].site);
    at = tell::put_fixed64(at, open[i].start);
  }
  add_chunk(ChunkKind::kOpenScopes, at);
}

void TellFile::add_calibration(const Calibration& calibration) {
  unsigned char* at = tell::put_varint(scratch_, 1);
  at = tell::put_fixed64(at, calibration.ticks);
  at = tell::put_fixed64(at, static_cast<std::uint64_t>(calibration.monotonic_ns));
  at = tell::put_fixed64(at, static_cast<std::uint64_t>(calibration.realtime_ns));
  add_chunk(ChunkKind::kCalibrations, at);
}

void TellFile::add_losses() {
  std::uint64_t counts[tell::kLossReasonCount];
  std::uint64_t total = 0, reasons = 0;
  for (int i = 0; i < tell::kLossReasonCount; ++i) {
    counts[i] = losses_->count(static_cast<tell::LossReason>(i));
    total += counts[i];
    reasons += counts[i] > 0 ? 1 : 0;
  }
  if (total == losses_written_) return;
  losses_written_ = total;
  unsigned char* at = tell::put_varint(scratch_, reasons);
  for (int i = 0; i < tell::kLossReasonCount; ++i) {
    if (counts[i] == 0) continue;
    *at++ = static_cast<unsigned char>(i);
    at = tell::put_varint(at, counts[i]);
  }
  add_chunk(ChunkKind::kLosses, at);
}

}  // namespace telltale::record
