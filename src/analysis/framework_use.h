// Whether a framework or Python tells what it does in a trace, or only a program with scopes of its own.
//
// Pure and thread-safe; linear in events, but a trace of a framework tells at once.
#pragma once

#include "trace/trace.h"

namespace telltale {

// Operators, modules and Python calls are what a framework records. In a trace without them, what the host does has no
// names but those that its program gives to its scopes.
bool uses_framework(const Trace& trace);

}  // namespace telltale
