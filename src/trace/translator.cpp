#include "trace/translator.h"

namespace telltale {

void Translator::select(const LocalNames& names) {
  if (names_ == &names) return;
  names_ = &names;
  current_ = &known_[&names];
  current_->strings.resize(names.strings.size(), kUnknown);
  current_->tracks.resize(names.tracks.size(), kUnknown);
  for_each_shared_list(
      [&](const TableInfo&, auto rows_in, auto) { rows_in(current_->shared).resize(rows_in(names).size(), kUnknown); });
  current_->flow_kinds.resize(names.flow_kinds.size(), kUnknown);
  current_->flow_places.resize(names.flow_places.size(), kUnknown);
}

std::uint32_t Translator::flow_kind(std::uint32_t local) {
  std::uint32_t& known = current_->flow_kinds[local];
  if (known == kUnknown) {
    const FlowKind& kind = names_->flow_kinds[local];
    known = flow_kinds_.intern({string(kind.category), string(kind.name)});
  }
  return known;
}

std::uint32_t Translator::flow_place(std::uint32_t local) {
  std::uint32_t& known = current_->flow_places[local];
  if (known == kUnknown) {
    const FlowPlace& place = names_->flow_places[local];
    known = flow_places_.intern({native_id(place.process), native_id(place.thread)});
  }
  return known;
}

}  // namespace telltale
