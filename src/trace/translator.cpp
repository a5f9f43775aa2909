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
}

std::uint32_t Translator::operator_inputs(std::uint32_t local) {
  if (local == OperatorInfo::kNoInputs) return local;
  std::uint32_t& known = current_->inputs[local];
  if (known == kUnknown) {
    const OperatorInputs& inputs = names_->operator_inputs[local];
    known = inputs_.intern(
        {string(inputs.shapes), string(inputs.strides), string(inputs.types), string(inputs.concrete)});
  }
  return known;
}

std::uint32_t Translator::kernel_launch(std::uint32_t local) {
  std::uint32_t& known = current_->launches[local];
  if (known == kUnknown) known = launches_.intern(names_->kernel_launches[local]);
  return known;
}

}  // namespace telltale
