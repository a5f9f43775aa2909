// A program's requests, threads and counters for a terminal.
#pragma once

#include <string>

#include "advise/diagnosis.h"
#include "report/palette.h"

namespace telltale {

// Tables that fit the width, each behind an empty line; nothing where there is nothing to show.
std::string activity_text(const Diagnosis& diagnosis, const TextStyle& style);

}  // namespace telltale
