// What must be true of every trace, whatever it was read from.
#pragma once

#include <string>

#include "trace/trace.h"

namespace telltale::fuzzing {

void require_same(const Trace& a, const Trace& b, const std::string& left, const std::string& right);
void require_same_examples(const Trace& a, const Trace& b);
void require_sound(const Trace& trace);

}  // namespace telltale::fuzzing
