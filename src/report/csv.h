// Results as comma-separated values (RFC 4180): a header line, then one line a row; what is absent is empty.
#pragma once

#include <string>

#include "analysis/key_averages.h"

namespace telltale {

// The fields of telltale.top/1. Shapes are written as torch prints them; the frames of a stack are joined by ";".
std::string to_csv(const KeyAverages& averages);

}  // namespace telltale
