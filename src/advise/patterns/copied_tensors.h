// What the host does to tensors before it copies them to the device: for rules that follow a tensor from operator to
// operator, by its size and the order of calls.
#pragma once

#include <string_view>
#include <vector>

#include "advise/facts.h"
#include "trace/shapes.h"

namespace telltale {

// An outermost operator, or the whole call that copies a tensor to the device (copying_call()).
struct TensorCall {
  EventId call = kNoEvent;
  EventId end = kNoEvent;   // one past the last event within it
  EventId copy = kNoEvent;  // on the device; kNoEvent of operators that do something else
};

// Of each thread that feeds the device, in the order of time: within the steps, outside of data loaders.
std::vector<std::vector<TensorCall>> tensor_calls(const Facts& facts);

// The shape of the first tensor that an operator, or one within it, is given; empty where none is recorded.
Shape shape_in(const Trace& trace, const TensorCall& call);

// Whether an operator fills a tensor with numbers of its own making: noise or constants.
bool fills_tensor(std::string_view op);

}  // namespace telltale
