// A diagnosis as JSON: telltale.analyze/1 of docs/json.md.
#pragma once

#include <string>

#include "advise/diagnosis.h"
#include "trace/trace.h"

namespace telltale {

// `trace` is the one that was diagnosed.
std::string to_json(const Diagnosis& diagnosis, const Trace& trace);

}  // namespace telltale
