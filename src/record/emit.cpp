#include "record/emit.h"

#include <sys/prctl.h>

#include <cerrno>

#include "record/clock.h"
#include "record/process_hooks.h"

extern "C" {
__attribute__((visibility("default"))) std::uint32_t telltale_recording = 0;
}

namespace telltale::record {

constinit Losses losses;
constinit MemoryBudget memory_budget;
constinit BufferPool pool{losses, memory_budget};
constinit Names names{losses, memory_budget};

ThreadState* new_thread() {
  if (has_thread_ended()) return nullptr;
  const int errno_before = errno;
  char name[17] = {};
  prctl(PR_GET_NAME, name);
  ThreadState* thread = pool.add_thread(names.next_track_number(), names.intern(name), can_watch_for_thread_exit());
  if (thread != nullptr) watch_for_thread_exit(*thread);
  errno = errno_before;
  return thread;
}

Room room_elsewhere(ThreadState& thread, std::size_t bytes) {
  __atomic_load_n(&telltale_recording,
                  __ATOMIC_ACQUIRE);  // what was set up before recording began is seen from here on
  const int errno_before = errno;
  Room room{nullptr, TELLTALE_STATUS_NOT_RECORDING};
  if (is_this_process_recorded()) room = {pool.next_buffer(thread, bytes), TELLTALE_STATUS_OK};
  errno = errno_before;
  return room;
}

std::uint32_t number_of_new_site(telltale_site* site) {
  const std::uint32_t number = names.number_of(*site);
  if (number != kNoNumber) __atomic_store_n(&site->id, number, __ATOMIC_RELAXED);
  return number;
}

telltale_status lost_without_thread() {
  const bool is_in_signal = Uninterrupted::is_this_thread_inside() || has_thread_ended();
  return lost(is_in_signal ? tell::LossReason::kInSignal : tell::LossReason::kNewestDropped);
}

telltale_status lost(tell::LossReason reason) {
  if (!telltale_is_recording()) return TELLTALE_STATUS_NOT_RECORDING;
  losses.add(reason, 1);
  return TELLTALE_STATUS_OK;
}

namespace {

RecordHead head_of(std::uint32_t site, tell::RecordType type, std::size_t bytes) {
  return {site, type, 0, static_cast<std::uint16_t>(bytes / kWordBytes)};
}

std::size_t padded(std::size_t bytes) { return (bytes + kWordBytes - 1) / kWordBytes * kWordBytes; }

// What the values of a record take. A size that no record can have stands for one that is too large.
std::size_t bytes_of_values(const telltale_site& site, const telltale_value* values) {
  std::size_t bytes = site.field_count * kWordBytes;
  for (std::uint32_t i = 0; values != nullptr && i < site.field_count; ++i) {
    if (site.fields[i].type == TELLTALE_FIELD_TYPE_TEXT) {
      if (values[i].text.size > kMaxRecordWords) return kMaxRecordWords * kWordBytes;
      bytes += padded(values[i].text.size);
    } else if (site.fields[i].type == TELLTALE_FIELD_TYPE_SHAPE) {
      if (values[i].shape.rank > kMaxRecordWords) return kMaxRecordWords * kWordBytes;
      bytes += values[i].shape.rank * kWordBytes;
    }
  }
  return bytes;
}

void store_value(unsigned char*& at, std::uint32_t type, const telltale_value& value) {
  if (type == TELLTALE_FIELD_TYPE_TEXT) {
    store(at, std::uint64_t{value.text.size});
    std::memcpy(at + kWordBytes, value.text.data, value.text.size);
    at += kWordBytes + padded(value.text.size);
  } else if (type == TELLTALE_FIELD_TYPE_SHAPE) {
    store(at, std::uint64_t{value.shape.rank});
    std::memcpy(at + kWordBytes, value.shape.dims, value.shape.rank * kWordBytes);
    at += kWordBytes + value.shape.rank * kWordBytes;
  } else {
    store(at, value.integer);
    at += kWordBytes;
  }
}

void store_values(unsigned char* at, const telltale_site& site, const telltale_value* values) {
  if (values == nullptr) {
    std::memset(at, 0, site.field_count * kWordBytes);
    return;
  }
  for (std::uint32_t i = 0; i < site.field_count; ++i) store_value(at, site.fields[i].type, values[i]);
}

// The values with texts and shapes that fit into `room` bytes beside the words that each of them takes: of as many as
// there are, each gets an equal share. False where that cannot be done.
constexpr std::uint32_t kMostCut = 64;
bool cut_values(const telltale_site& site, const telltale_value* values, std::size_t room, telltale_value* cut) {
  const std::size_t words = site.field_count * kWordBytes;
  if (values == nullptr || site.field_count > kMostCut || words > room) return false;
  std::size_t lists = 0;
  for (std::uint32_t i = 0; i < site.field_count; ++i)
    lists += site.fields[i].type == TELLTALE_FIELD_TYPE_TEXT || site.fields[i].type == TELLTALE_FIELD_TYPE_SHAPE;
  const std::size_t share = lists == 0 ? 0 : (room - words) / lists / kWordBytes * kWordBytes;
  for (std::uint32_t i = 0; i < site.field_count; ++i) {
    cut[i] = values[i];
    if (site.fields[i].type == TELLTALE_FIELD_TYPE_TEXT && values[i].text.size > share) {
      // Not in the middle of a character.
      cut[i].text.size = share;
      while (cut[i].text.size > 0 && (values[i].text.data[cut[i].text.size] & 0xC0) == 0x80) --cut[i].text.size;
      losses.add(tell::LossReason::kValueCut, 1);
    } else if (site.fields[i].type == TELLTALE_FIELD_TYPE_SHAPE && values[i].shape.rank > share / kWordBytes) {
      cut[i].shape.rank = share / kWordBytes;
      losses.add(tell::LossReason::kValueCut, 1);
    }
  }
  return true;
}

// One record with the fixed part `record`, whose head is filled in here, and the values of its site.
template <typename Record>
telltale_status emit_with_values(telltale_site* site, tell::RecordType type, Record record,
                                 const telltale_value* values) {
  std::size_t bytes = sizeof(Record) + bytes_of_values(*site, values);
  telltale_value cut[kMostCut];
  if (bytes > pool.record_bytes() && telltale_is_recording() &&
      cut_values(*site, values, pool.record_bytes() - sizeof(Record), cut)) [[unlikely]] {
    values = cut;
    bytes = sizeof(Record) + bytes_of_values(*site, values);
  }
  return emit(bytes, [&](unsigned char* at) {
    const std::uint32_t number = number_of(site);
    if (number == kNoNumber) return false;
    record.head = head_of(number, type, bytes);
    store(at, record);
    store_values(at + sizeof(Record), *site, values);
    return true;
  });
}

template <typename Record>
telltale_status emit_fixed(telltale_site* site, tell::RecordType type, Record record) {
  return emit(sizeof(Record), [&](unsigned char* at) {
    const std::uint32_t number = number_of(site);
    if (number == kNoNumber) return false;
    record.head = head_of(number, type, sizeof(Record));
    store(at, record);
    return true;
  });
}

// A scope that began here but ends elsewhere, or not at all, must not stay open for ever: closing one closes those
// within.
void close_scope(ThreadState& thread, std::uint64_t start) {
  std::uint32_t depth = thread.depth.load(std::memory_order_relaxed);
  if (depth > kMaxOpenScopes) {
    thread.depth.store(depth - 1, std::memory_order_relaxed);
    return;
  }
  while (depth > 0) {
    --depth;
    const std::uint64_t open = thread.open[depth].start.load(std::memory_order_relaxed);
    if (open == start) {
      thread.depth.store(depth, std::memory_order_release);
      return;
    }
    if (open < start) return;  // it began on another thread
  }
}

// What a scope that ends now has recorded.
SpanRecord ended_scope(std::uint64_t start) {
  const std::uint64_t end = ticks_now();
  if (current_thread != nullptr) close_scope(*current_thread, start);
  return {{}, start, end - start};
}

}  // namespace
}  // namespace telltale::record

using namespace telltale::record;
using telltale::tell::RecordType;

extern "C" {

std::uint64_t telltale_now(void) { return ticks_now(); }

std::uint64_t telltale_scope_begin(telltale_site* site) {
  ThreadState* thread = current_thread;
  if (thread == nullptr) [[unlikely]] {
    thread = new_thread();
    if (thread == nullptr) return ticks_now();
  }
  std::uint32_t number = __atomic_load_n(&site->id, __ATOMIC_RELAXED);
  if (number == 0) [[unlikely]] {
    number = number_of_new_site(site);
    if (number == kNoNumber) number = 0;
  }
  const std::uint32_t depth = thread->depth.load(std::memory_order_relaxed);
  const std::uint64_t start = ticks_now();
  if (depth < kMaxOpenScopes) [[likely]] {
    thread->open[depth].site.store(number, std::memory_order_relaxed);
    thread->open[depth].start.store(start, std::memory_order_release);
  } else {
    losses.add(telltale::tell::LossReason::kOpenNotKept, 1);
  }
  thread->depth.store(depth + 1, std::memory_order_release);
  return start;
}

telltale_status telltale_scope_end(telltale_site* site, std::uint64_t start) {
  return emit_fixed(site, RecordType::kSpan, ended_scope(start));
}

void telltale_scope_abandon(std::uint64_t start) {
  if (current_thread != nullptr) close_scope(*current_thread, start);
}

telltale_status telltale_scope_end_with(telltale_site* site, std::uint64_t start, const telltale_value* values) {
  return emit_with_values(site, RecordType::kSpan, ended_scope(start), values);
}

telltale_status telltale_scope_end_words(telltale_site* site, std::uint64_t start, const std::uint64_t* words) {
  SpanRecord record = ended_scope(start);
  const std::size_t bytes = sizeof(SpanRecord) + site->field_count * kWordBytes;
  return emit(bytes, [&](unsigned char* at) {
    const std::uint32_t number = number_of(site);
    if (number == kNoNumber) return false;
    record.head = head_of(number, RecordType::kSpan, bytes);
    store(at, record);
    for (std::uint32_t i = 0; i < site->field_count; ++i) store(at + sizeof(SpanRecord) + i * kWordBytes, words[i]);
    return true;
  });
}

telltale_status telltale_instant(telltale_site* site, const telltale_value* values) {
  if (!telltale_is_recording()) return TELLTALE_STATUS_NOT_RECORDING;
  return emit_with_values(site, RecordType::kInstant, MarkRecord{{}, ticks_now()}, values);
}

telltale_status telltale_counter(telltale_site* site, double value) {
  if (!telltale_is_recording()) return TELLTALE_STATUS_NOT_RECORDING;
  return emit_fixed(site, RecordType::kCounter, CounterRecord{{}, ticks_now(), value});
}

telltale_status telltale_allocation(const telltale_memory* event) {
  if (!telltale_is_recording()) return TELLTALE_STATUS_NOT_RECORDING;
  const AllocationRecord record{head_of(event->pool, RecordType::kAllocation, sizeof(AllocationRecord)),
                                ticks_now(),
                                event->address,
                                event->bytes,
                                event->device,
                                event->total_allocated,
                                event->total_reserved};
  return emit(sizeof record, [&](unsigned char* at) { store(at, record); });
}

telltale_status telltale_flow(telltale_site* site, std::uint64_t id, telltale_flow_role role) {
  if (!telltale_is_recording()) return TELLTALE_STATUS_NOT_RECORDING;
  const RecordType type = role == TELLTALE_FLOW_ROLE_START  ? RecordType::kFlowStart
                          : role == TELLTALE_FLOW_ROLE_STEP ? RecordType::kFlowStep
                                                            : RecordType::kFlowEnd;
  return emit_fixed(site, type, IdRecord{{}, ticks_now(), id});
}

telltale_status telltale_async_begin(telltale_site* site, std::uint64_t id, const telltale_value* values) {
  if (!telltale_is_recording()) return TELLTALE_STATUS_NOT_RECORDING;
  return emit_with_values(site, RecordType::kAsyncBegin, IdRecord{{}, ticks_now(), id}, values);
}

telltale_status telltale_async_end(telltale_site* site, std::uint64_t id) {
  if (!telltale_is_recording()) return TELLTALE_STATUS_NOT_RECORDING;
  return emit_fixed(site, RecordType::kAsyncEnd, IdRecord{{}, ticks_now(), id});
}

telltale_status telltale_span_at(std::uint32_t track, telltale_site* site, std::uint64_t start, std::uint64_t end,
                                 std::uint64_t correlation, const telltale_value* values) {
  if (!telltale_is_recording()) return TELLTALE_STATUS_NOT_RECORDING;
  const TrackSpanRecord record{{}, start, end > start ? end - start : 0, correlation, track};
  return emit_with_values(site, RecordType::kSpanOnTrack, record, values);
}

telltale_status telltale_begin_at(std::uint32_t track, telltale_site* site, std::uint64_t time,
                                  std::uint64_t correlation, const telltale_value* values) {
  if (!telltale_is_recording()) return TELLTALE_STATUS_NOT_RECORDING;
  return emit_with_values(site, RecordType::kBeginOnTrack, TrackSpanRecord{{}, time, 0, correlation, track}, values);
}

telltale_status telltale_end_at(std::uint32_t track, std::uint64_t time) {
  if (!telltale_is_recording()) return TELLTALE_STATUS_NOT_RECORDING;
  const TrackSpanRecord record{head_of(0, RecordType::kEndOnTrack, sizeof(TrackSpanRecord)), time, 0, 0, track};
  return emit(sizeof record, [&](unsigned char* at) { store(at, record); });
}

std::uint32_t telltale_intern(const char* text) { return names.intern(text); }

telltale_site* telltale_make_site(const telltale_site* description) { return names.handle_of(*description); }

std::uint32_t telltale_make_track(const telltale_track* description) { return names.add_track(*description); }

void telltale_name_thread(const char* name) {
  make_ready();
  const std::uint32_t number = names.intern(name);
  ThreadState* thread = current_thread != nullptr ? current_thread : new_thread();
  if (thread != nullptr && number != 0) thread->name.store(number, std::memory_order_release);
}

}  // extern "C"
