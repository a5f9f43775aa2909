// What a diagnosis says of energy, throttling, memory and money, in the words that all its views share.
#pragma once

#include <string>
#include <vector>

#include "advise/diagnosis.h"

namespace telltale {

// Sentences, one for each matter; none where no gauges were read.
std::vector<std::string> energy_sentences(const Diagnosis& diagnosis);

// All of them as a paragraph.
std::string energy_text(const Diagnosis& diagnosis);

}  // namespace telltale
