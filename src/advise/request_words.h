// What a program's requests are like, in sentences.
//
// Pure and thread-safe.
#pragma once

#include <string>

#include "analysis/requests.h"

namespace telltale {

// "A request (a call of Net) takes 3.20 ms (p50), 9.00 ms (p99) as recorded; 45.2 come per second."
std::string latency_sentence(const Requests& requests);

// "4 threads serve, busy 30 % of the time; between requests they wait mostly for a lock or a queue."
std::string serving_sentence(const Requests& requests);

}  // namespace telltale
