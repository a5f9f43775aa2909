// What a rule must find in a trace to look at it at all, and which rules could not look at one.
//
// Silence of a rule that could not look is no all-clear: every view of a diagnosis says so, and what to record next
// time, in the words of whoever recorded. A rule about devices does not apply to a trace without one, nor does one
// about gauges without these, nor rules about torch to a program without it: they are not counted.
//
// Pure and thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace telltale {

struct Diagnosis;

enum class Need : std::uint8_t {
  kDevice,       // work of a GPU or the like
  kShapes,       // of the tensors that operators get
  kStacks,       // Python calls, each or by samples, or stacks of operators
  kMemory,       // allocations
  kModules,      // calls of modules
  kCollections,  // marks of Python's garbage collections
  kSteps,        // kStepsNeeded of them
  kGauges,       // of a device: without them, a rule that needs them does not apply
};
inline constexpr int kNeedCount = 8;
inline constexpr std::size_t kStepsNeeded = 3;  // fewer show no trend

std::string_view name_of(Need need);  // "shapes"

// Any one of them will do.
using Alternatives = std::vector<Need>;
// All of these; empty: operators and their times, which every trace has.
using Needs = std::vector<Alternatives>;

struct BlindRule {
  std::string id;
  std::string title;
  std::vector<Need> lacks;  // the first of the alternatives where there are several
};

// Who looked at a trace, and who could not.
struct Look {
  std::int64_t rules = 0;        // that looked
  std::vector<BlindRule> blind;  // in the order of the documentation
  std::vector<Need> lacking;     // all that one of them lacks, once each
  // What lets them look next time: "telltale record --memory", "profile(profile_memory=True)"; empty when no option
  // would.
  std::string remedy;
};

// Who of these rules, or of all when there are none, can look. The diagnosis must have its steps.
Look looked_at(const Trace& trace, const Diagnosis& diagnosis, const std::vector<std::string>& rules);

}  // namespace telltale
