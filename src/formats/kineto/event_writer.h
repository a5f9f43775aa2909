// The meaning of one event: EventFields to rows of a block's tables.
//
// One writer a thread: it remembers what it has seen to recognise it faster. Rows of all blocks it writes share its
// LocalNames.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/kineto/block_events.h"
#include "formats/kineto/event_fields.h"

namespace telltale::kineto {

class EventWriter {
 public:
  explicit EventWriter(LocalNames& names) : names_(names) {}

  // `byte_offset` is that of the event. False when an argument turns out to be no JSON: nothing was written then.
  bool write(const EventFields& fields, std::uint64_t byte_offset, BlockEvents& into);

 private:
  struct Category {
    StringId text = kEmptyString;
    Kind kind = Kind::kOther;  // leaving aside that the name can tell more
    bool is_known = true;
  };
  struct CopySpaces {
    MemorySpace from = MemorySpace::kUnknown, to = MemorySpace::kUnknown;
  };
  // The arguments that can turn out to be no JSON; read before anything is written.
  struct CheckedArguments {
    std::uint32_t operator_inputs = OperatorInfo::kNoInputs;
    StringId others = kEmptyString;
  };

  bool write_row(const EventFields& fields, Kind kind, TrackId track);
  bool write_instant(const EventFields& fields);
  bool write_async(const EventFields& fields);
  void write_end(const EventFields& fields, const SpanKey& key, bool is_async);
  void write_memory(const EventFields& fields);
  void write_counters(const EventFields& fields);
  void write_flow(const EventFields& fields);
  void write_label(const EventFields& fields);

  // In event_details.cpp: what the arguments of a row say.
  std::optional<CheckedArguments> check_arguments(const EventFields& fields);
  void write_details(const EventFields& fields, Kind kind, BatchRow row);
  KernelLaunch kernel_launch(const EventFields& fields);
  CollectiveInfo collective(const EventFields& fields);
  CopySpaces copy_spaces(StringId name);

  const Category& category_of(const StringToken& text);
  TrackId track_of(const EventFields& fields, TrackKind kind);
  TrackId async_track(const EventFields& fields);
  NativeId native_id(const IdToken& token);
  NativeId span_id(const EventFields& fields);
  StringId text_of(const StringToken& token);
  StringId text_in(const ValueSpan& value);
  // Nothing when the value is no JSON.
  std::optional<StringId> compact(const ValueSpan& value);
  std::int64_t integer(const EventFields& fields, ArgumentKey key, std::int64_t otherwise);
  // The same for columns that hold less; a number that does not fit is left out as well.
  template <typename Narrow>
  Narrow narrow_integer(const EventFields& fields, ArgumentKey key, Narrow otherwise) {
    const std::int64_t value = integer(fields, key, otherwise);
    if (std::in_range<Narrow>(value)) return static_cast<Narrow>(value);
    note(Anomaly::kNumberOutOfRange);
    return otherwise;
  }
  void note(Anomaly anomaly) { note(anomaly, name_); }
  void note(Anomaly anomaly, StringId example) {
    into_->batch.anomalies.add(anomaly, byte_offset_, names_.strings[example]);
  }

  LocalNames& names_;
  BlockEvents* into_ = nullptr;
  std::uint64_t byte_offset_ = 0;
  StringId name_ = kEmptyString;  // of the event being written

  std::vector<std::optional<Category>> categories_;  // by local string id, likewise below
  std::vector<std::optional<CopySpaces>> copy_spaces_;
  std::vector<std::optional<std::optional<StringId>>> compact_;

  std::string last_category_text_;
  Category last_category_;
  TrackKey last_track_key_;
  std::optional<TrackId> last_track_;
};

}  // namespace telltale::kineto
