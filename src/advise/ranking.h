// Brings findings into the order in which a user should read them.
#pragma once

#include <vector>

#include "advise/finding.h"

namespace telltale {

// Findings that save less than `least` and more than nothing go. Of those with the same fix the one that saves most
// stays and names the others' rules in also_explains; so do, in a finding, the rules of lesser ones whose evidence it
// shares. By falling likely saving; what saves no time comes last, in the order given.
std::vector<Finding> ranked(std::vector<Finding> findings, Nanoseconds least);

}  // namespace telltale
