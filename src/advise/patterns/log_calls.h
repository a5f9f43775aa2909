// Functions that a step calls only to tell somebody something.
#pragma once

#include <string_view>
#include <vector>

#include "advise/facts.h"

namespace telltale {

// Of a function's time that goes into writing and into reading values back for it: half of it in log_every_step, whose
// function computes the values as well. One that only happens to write a line has far less.
inline constexpr double kLeastShareOfWriting = 0.25;

// The frame of torch.save(), or of what saves for it: those that load stand in the same file.
bool is_saving_tensors(std::string_view frame);

// Functions that print, write, log or save, and compute nothing that the step needs: in the steps, on the threads that
// work for them, by event. From the call that writes outwards, the outermost Python function that neither calls a
// module, nor trains, nor computes more than a little, and that spends much of its time writing. Needs stacks. For
// Facts::log_calls(), which finds them once for all rules.
std::vector<EventId> find_log_calls(const Facts& facts);

}  // namespace telltale
