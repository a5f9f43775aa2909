#include "trace/translator.h"

namespace telltale {

void Translator::select(const LocalNames& names) {
  if (names_ == &names) return;
  names_ = &names;
  current_ = &known_[&names];
  current_->strings.resize(names.strings.size(), kUnknown);
  current_->tracks.resize(names.tracks.size(), kUnknown);
  current_->inputs.resize(names.operator_inputs.size(), kUnknown);
  current_->launches.resize(names.kernel_launches.size(), kUnknown);
  current_->locations.resize(names.source_locations.size(), kUnknown);
  current_->flow_kinds.resize(names.flow_kinds.size(), kUnknown);
  current_->flow_places.resize(names.flow_places.size(), kUnknown);
}

std::uint32_t Translator::operator_inputs(std::uint32_t local) {
  if (local == OperatorInfo::kNoInputs) return local;
  std::uint32_t& known = current_->inputs[local];
  if (known == kUnknown) {
    const OperatorInputs& inputs = names_->operator_inputs[local];
    known =
        inputs_.intern({string(inputs.shapes), string(inputs.strides), string(inputs.types), string(inputs.concrete)});
  }
  return known;
}

std::uint32_t Translator::kernel_launch(std::uint32_t local) {
  std::uint32_t& known = current_->launches[local];
  if (known == kUnknown) known = launches_.intern(names_->kernel_launches[local]);
  return known;
}

std::uint32_t Translator::source_location(std::uint32_t local) {
  std::uint32_t& known = current_->locations[local];
  if (known == kUnknown) {
    const SourceLocation& location = names_->source_locations[local];
    known = locations_.intern({string(location.file), string(location.function), location.line});
  }
  return known;
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
