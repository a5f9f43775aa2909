#include "formats/tell/memory_records.h"

#include <utility>

#include "formats/tell/known_fields.h"

namespace telltale::tell {
namespace {

using Field = MemoryField;

constexpr std::int64_t kStateMark = std::size(kAllocatorActions);
// The allocator tells what was asked for, memory events what was given: in steps of so many bytes.
constexpr std::int64_t kBlockStep = 512;
// Sums of a few thousand of them cannot overflow, and no machine has as much.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;

std::int64_t at(const MemoryRecord& record, Field field) { return record[static_cast<std::size_t>(field)]; }
std::uint64_t address_at(const MemoryRecord& record, Field field) {
  return static_cast<std::uint64_t>(at(record, field));
}
StringId text_at(const MemoryRecord& record, Field field) { return static_cast<StringId>(at(record, field)); }
bool is_size(std::int64_t bytes) { return bytes >= 0 && bytes <= kMostBytes; }

bool add_allocator_event(const MemoryRecord& record, Nanoseconds time, TrackId track, EventBatch& batch) {
  const std::int64_t action = at(record, Field::kAction);
  if (action < 0 || action > kStateMark) return false;
  BatchAllocatorEvent event;
  event.track = track;
  event.is_state_mark = action == kStateMark;
  AllocatorEvent& entry = event.entry;
  entry.time = time;
  entry.address = address_at(record, Field::kAddress);
  entry.bytes = at(record, Field::kBytes);
  entry.stream = address_at(record, Field::kStream);
  entry.device = static_cast<DeviceId>(at(record, Field::kDevice));
  entry.pool = text_at(record, Field::kPool);
  entry.action = event.is_state_mark ? AllocatorAction::kSnapshot : kAllocatorActions[action];
  batch.allocator_events.push_back(event);
  const bool is_allocation = entry.action == AllocatorAction::kAllocate;
  if (is_allocation || entry.action == AllocatorAction::kFreeRequested) {
    const std::int64_t given = (entry.bytes + kBlockStep - 1) / kBlockStep * kBlockStep;
    batch.memory.push_back({.time = time,
                            .track = track,
                            .device = entry.device,
                            .address = entry.address,
                            .bytes = is_allocation ? given : -given});
  }
  return true;
}

bool add_segment(const MemoryRecord& record, Nanoseconds time, EventBatch& batch) {
  BatchMemorySegment noted;
  noted.time = time;
  MemorySegment& segment = noted.segment;
  segment.address = address_at(record, Field::kAddress);
  segment.bytes = at(record, Field::kBytes);
  segment.stream = address_at(record, Field::kStream);
  segment.device = static_cast<DeviceId>(at(record, Field::kDevice));
  segment.pool = text_at(record, Field::kPool);
  segment.is_large = at(record, Field::kLarge) != 0;
  segment.is_expandable = at(record, Field::kExpandable) != 0;
  batch.memory_segments.push_back(noted);
  return true;
}

bool add_block(const MemoryRecord& record, EventBatch& batch) {
  const std::int64_t state = at(record, Field::kState);
  if (!std::in_range<std::size_t>(state) || static_cast<std::size_t>(state) >= std::size(kBlockStates)) return false;
  if (!is_size(at(record, Field::kRequested))) return false;
  BatchMemoryBlock noted;
  noted.segment_address = address_at(record, Field::kSegment);
  noted.device = static_cast<DeviceId>(at(record, Field::kDevice));
  noted.block.address = address_at(record, Field::kAddress);
  noted.block.bytes = at(record, Field::kBytes);
  noted.block.requested = at(record, Field::kRequested);
  noted.block.state = kBlockStates[state];
  batch.memory_blocks.push_back(noted);
  return true;
}

bool add_noted_tensor(const MemoryRecord& record, Nanoseconds time, EventBatch& batch) {
  batch.noted_tensors.push_back({.time = time,
                                 .address = address_at(record, Field::kAddress),
                                 .bytes = at(record, Field::kBytes),
                                 .device = static_cast<DeviceId>(at(record, Field::kDevice)),
                                 .role = text_at(record, Field::kRole),
                                 .name = text_at(record, Field::kName)});
  return true;
}

// Of one type; `known_fields` numbers fields from 0 for each.
template <std::size_t kCount>
std::vector<Field> fields_of(const Site& site, const Sites& sites, std::string_view name,
                             const std::pair<std::string_view, Field> (&all)[kCount]) {
  KnownField<std::size_t> known[kCount];
  for (std::size_t i = 0; i < kCount; ++i) {
    const Field field = all[i].second;
    const bool is_text = field == Field::kPool || field == Field::kRole || field == Field::kName;
    known[i] = {all[i].first, is_text ? FieldType::kName : FieldType::kInteger, i};
  }
  std::vector<Field> fields;
  for (const std::size_t i : known_fields(site, sites, name, known)) fields.push_back(all[i].second);
  return fields;
}

}  // namespace

MemoryRecordPlan::MemoryRecordPlan(const Site& site, const Sites& sites) {
  using Named = std::pair<std::string_view, Field>;
  constexpr Named kAllocatorEvent[] = {{"Action", Field::kAction}, {"Addr", Field::kAddress},  {"Bytes", Field::kBytes},
                                       {"Device", Field::kDevice}, {"Stream", Field::kStream}, {"Pool", Field::kPool}};
  constexpr Named kSegment[] = {{"Addr", Field::kAddress},         {"Bytes", Field::kBytes}, {"Device", Field::kDevice},
                                {"Stream", Field::kStream},        {"Pool", Field::kPool},   {"Large", Field::kLarge},
                                {"Expandable", Field::kExpandable}};
  constexpr Named kBlock[] = {{"Addr", Field::kAddress},        {"Bytes", Field::kBytes}, {"Device", Field::kDevice},
                              {"Requested", Field::kRequested}, {"State", Field::kState}, {"Segment", Field::kSegment}};
  constexpr Named kNotedTensor[] = {{"Addr", Field::kAddress},
                                    {"Bytes", Field::kBytes},
                                    {"Device", Field::kDevice},
                                    {"Role", Field::kRole},
                                    {"Name", Field::kName}};
  const auto try_type = [&](Type type, std::string_view name, const auto& fields) {
    if (is_known()) return;
    fields_ = fields_of(site, sites, name, fields);
    if (!fields_.empty()) type_ = type;
  };
  try_type(Type::kAllocatorEvent, "allocator event", kAllocatorEvent);
  try_type(Type::kSegment, "memory segment", kSegment);
  try_type(Type::kBlock, "memory block", kBlock);
  try_type(Type::kNotedTensor, "noted tensor", kNotedTensor);
}

MemoryRecord MemoryRecordPlan::read(ByteReader& column, const Sites& sites, LocalTexts& texts) const {
  MemoryRecord record = {};
  for (const Field field : fields_) {
    std::int64_t& value = record[static_cast<std::size_t>(field)];
    switch (field) {
      case Field::kPool:
      case Field::kRole:
      case Field::kName:
        value = texts.of(sites.text(column.varint()));
        break;
      default:
        value = column.signed_varint();
    }
  }
  return record;
}

bool MemoryRecordPlan::add(const MemoryRecord& record, Nanoseconds time, TrackId track, EventBatch& batch) const {
  if (!std::in_range<DeviceId>(at(record, Field::kDevice)) || !is_size(at(record, Field::kBytes))) return false;
  switch (type_) {
    case Type::kAllocatorEvent:
      return add_allocator_event(record, time, track, batch);
    case Type::kSegment:
      return add_segment(record, time, batch);
    case Type::kBlock:
      return add_block(record, batch);
    case Type::kNotedTensor:
      return add_noted_tensor(record, time, batch);
    case Type::kNone:
      break;
  }
  return false;
}

}  // namespace telltale::tell
