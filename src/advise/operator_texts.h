// The arguments of an operator call, as the texts that analyses read.
#pragma once

#include "analysis/operator_arguments.h"
#include "trace/trace.h"

namespace telltale {

// All empty when the trace does not have them, or `op` is kNoEvent.
OperatorTexts texts_of(const Trace& trace, EventId op);

}  // namespace telltale
