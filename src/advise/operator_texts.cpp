#include "advise/operator_texts.h"

namespace telltale {

OperatorTexts texts_of(const Trace& trace, EventId op) {
  const OperatorInfo* const info = op == kNoEvent ? nullptr : trace.operators.find(op);
  if (info == nullptr || info->inputs == OperatorInfo::kNoInputs) return {};
  const OperatorInputs& inputs = trace.operator_inputs[info->inputs];
  return {trace.strings[inputs.shapes], trace.strings[inputs.strides], trace.strings[inputs.types],
          trace.strings[inputs.concrete]};
}

}  // namespace telltale
