// Turns the numbers that reading threads gave for themselves into those of the whole trace.
//
// What is asked for first gets the smaller number, so the numbers depend on the order of the file alone.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "trace/event_batch.h"

namespace telltale {

class Translator {
 public:
  explicit Translator(InternedStrings& strings) : strings_(strings) {}

  // Whose numbers the following calls translate.
  void select(const LocalNames& names);

  StringId string(StringId local) {
    StringId& known = current_->strings[local];
    if (known == kUnknown) known = strings_.intern(names_->strings[local]);
    return known;
  }
  EventId event(EventId id) { return id; }  // readers name none: their events have no numbers yet
  TrackId track(TrackId local) {
    TrackId& known = current_->tracks[local];
    if (known == kUnknown) known = tracks_.intern(translated(names_->tracks[local]));
    return known;
  }
  // Nothing for a track that no event, allocation or counter is on.
  std::optional<TrackId> known_track(TrackId local) {
    const TrackId found = tracks_.find(translated(names_->tracks[local]));
    return found == kUnknown ? std::nullopt : std::optional(found);
  }
  template <SharedRow Row>
  std::uint32_t shared_row(std::uint32_t local, RowOf<Row> description) {
    std::uint32_t& known = shared_rows<Row>(current_->shared)[local];
    if (known == kUnknown) {
      Row row = shared_rows<Row>(*names_)[local];
      change_ids(row, description, *this);
      known = shared_rows<Row>(shared_).intern(row);
    }
    return known;
  }
  std::uint32_t flow_kind(std::uint32_t local);
  std::uint32_t flow_place(std::uint32_t local);
  NativeId native_id(NativeId local) { return {local.number, string(local.text)}; }

  const InternedValues<TrackKey>& tracks() const { return tracks_; }
  const InternedValues<FlowKind>& flow_kinds() const { return flow_kinds_; }
  const InternedValues<FlowPlace>& flow_places() const { return flow_places_; }
  void take_shared_rows(SharedRows<RowList>& into) {
    for_each_shared_list([&](const TableInfo&, auto rows_in, auto) { rows_in(into) = rows_in(shared_).take(); });
  }

 private:
  static constexpr std::uint32_t kUnknown = UINT32_MAX;

  // Global numbers by local ones; kUnknown until asked for.
  template <typename Row>
  using Numbers = std::vector<std::uint32_t>;
  struct Known {
    std::vector<std::uint32_t> strings, tracks, flow_kinds, flow_places;
    SharedRows<Numbers> shared;
  };

  TrackKey translated(TrackKey local) {
    return {native_id(local.process), native_id(local.thread), local.kind, local.device};
  }

  InternedStrings& strings_;
  InternedValues<TrackKey> tracks_;
  SharedRows<InternedValues> shared_;
  InternedValues<FlowKind> flow_kinds_;
  InternedValues<FlowPlace> flow_places_;
  std::unordered_map<const LocalNames*, Known> known_;
  Known* current_ = nullptr;
  const LocalNames* names_ = nullptr;
};

}  // namespace telltale
