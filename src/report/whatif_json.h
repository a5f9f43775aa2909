// The answer to a what-if as JSON: telltale.whatif/1 of docs/json.md.
#pragma once

#include <string>

#include "replay/what_if.h"

namespace telltale {

std::string to_json(const WhatIf& answer);

}  // namespace telltale
