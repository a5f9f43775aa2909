// Whether two traces say the same, column by column and with strings compared by their text, and if not, where they
// first differ: for every table one line with both sides.
#pragma once

#include <string>

#include "trace/trace.h"

namespace telltale::oracle {

// Empty when they are equal. `left` and `right` name the two sides in the text.
std::string difference(const Trace& a, const Trace& b, const std::string& left, const std::string& right);

// "12 aten::mm (operator, 81052 ns at 118210 on thread 399)", or "none".
std::string describe(const Trace& trace, EventId event);

}  // namespace telltale::oracle
