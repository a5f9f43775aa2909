// What the arguments of an event say beyond when and where it happened: EventFields to rows of a batch's side tables.
//
// One a thread: it remembers what it has seen to recognize it faster. Rows refer to its LocalNames.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/kineto/event_fields.h"
#include "trace/event_batch.h"

namespace telltale::kineto {

class EventDetails {
 public:
  explicit EventDetails(LocalNames& names) : names_(names) {}

  // The event that the calls below are about: where its rows go, and what anomalies quote.
  void select(EventBatch& into, std::uint64_t byte_offset) {
    batch_ = &into;
    byte_offset_ = byte_offset;
    name_ = kEmptyString;
  }
  void set_name(StringId name) { name_ = name; }
  StringId name() const { return name_; }

  // The arguments that can turn out to be no JSON; read before anything is written.
  struct Checked {
    std::uint32_t operator_inputs = OperatorInfo::kNoInputs;
    StringId others = kEmptyString;
  };
  // Nothing when one of them is none.
  std::optional<Checked> check(const EventFields& fields);
  void write(const EventFields& fields, const Checked& checked, Kind kind, BatchRow row);

  StringId text_of(const StringToken& token);
  StringId text_of_bare_value(std::string_view value);
  StringId text_in(const ValueSpan& value);
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
    batch_->anomalies.add(anomaly, byte_offset_, names_.strings[example]);
  }

 private:
  struct CopySpaces {
    MemorySpace from = MemorySpace::kUnknown, to = MemorySpace::kUnknown;
  };

  void write_links(const EventFields& fields, BatchRow row);
  void write_operator(const EventFields& fields, const Checked& checked, BatchRow row);
  void write_device_work(const EventFields& fields, Kind kind, BatchRow row);
  std::uint32_t source_location(const EventFields& fields);
  KernelLaunch kernel_launch(const EventFields& fields);
  CollectiveInfo collective(const EventFields& fields);
  CopySpaces copy_spaces(StringId name);
  // Nothing when the value is no JSON.
  std::optional<StringId> compact(const ValueSpan& value);

  LocalNames& names_;
  EventBatch* batch_ = nullptr;
  std::uint64_t byte_offset_ = 0;
  StringId name_ = kEmptyString;

  std::vector<std::optional<CopySpaces>> copy_spaces_;  // by local string id, likewise below
  std::vector<std::optional<std::optional<StringId>>> compact_;
};

}  // namespace telltale::kineto
