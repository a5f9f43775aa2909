// What a fuzz target claims; a claim that fails ends the process, and the fuzzer keeps the input.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace telltale::fuzzing {

inline void require(bool holds, const std::string& claim) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", claim.c_str());
  std::abort();
}

}  // namespace telltale::fuzzing
