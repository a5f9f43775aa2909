// What the adapter for PyTorch tells of few operators, for torch.profiler's interface alone: no column of a trace holds
// it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace telltale::python {

struct TorchExtras {
  std::string_view before;           // members that stand in front of these, as JSON
  std::string_view record_function;  // a number: that of torch's execution trace, 0 without one
  std::string overload;              // empty when it was not asked for
  std::string keywords;              // arguments by name, as a JSON object; empty when there are none
};

// Out of an event's other arguments; nothing where the adapter told nothing. Refers to the text.
std::optional<TorchExtras> torch_extras(std::string_view other_arguments);

}  // namespace telltale::python
