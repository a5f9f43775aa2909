// The meaning of one event: EventFields to rows of a block's tables.
//
// One writer a thread: it remembers what it has seen to recognize it faster. Rows of all blocks it writes share its
// LocalNames.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/kineto/argument_values.h"
#include "formats/kineto/event_parser.h"
#include "trace/event_block.h"
#include "trace/event_details.h"

namespace telltale::kineto {

class EventWriter {
 public:
  explicit EventWriter(LocalNames& names) : names_(names), details_(names), arguments_(details_) {}

  // `byte_offset` is that of the event. False when an argument turns out to be no JSON: nothing was written then.
  bool write(const EventFields& fields, std::uint64_t byte_offset, EventBlock& into);

 private:
  struct Category {
    StringId text = kEmptyString;
    Kind kind = Kind::kOther;  // leaving aside that the name can tell more
    bool is_known = true;
  };

  bool write_row(const EventFields& fields, Kind kind, TrackId track);
  bool write_instant(const EventFields& fields);
  bool write_async(const EventFields& fields);
  void write_end(const EventFields& fields, const SpanKey& key, bool is_async);
  void write_memory(const EventFields& fields);
  void write_counters(const EventFields& fields);
  void write_flow(const EventFields& fields);
  void write_label(const EventFields& fields);

  const Category& category_of(const StringToken& text);
  TrackId track_of(const EventFields& fields, TrackKind kind);
  TrackId async_track(const EventFields& fields);
  NativeId native_id(const IdToken& token);
  NativeId span_id(const EventFields& fields);

  LocalNames& names_;
  EventDetails details_;
  ArgumentValues arguments_;  // of the event being written
  EventBlock* into_ = nullptr;
  std::uint64_t byte_offset_ = 0;
  StringId name_ = kEmptyString;  // of the event being written

  std::vector<std::optional<Category>> categories_;  // by local string id

  std::string last_category_text_;
  Category last_category_;
  TrackKey last_track_key_;
  std::optional<TrackId> last_track_;
};

}  // namespace telltale::kineto
