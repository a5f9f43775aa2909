// The stacks of a snapshot as text: "model.py(12): forward" for each frame, innermost first, joined by ";".
//
// A snapshot has a list of frames for each entry, and few distinct ones: lists are compared by their frames before any
// text is made. Used by one thread.
#pragma once

#include <vector>

#include "base/interned_strings.h"
#include "formats/memory_snapshot/records.h"
#include "formats/memory_snapshot/values.h"

namespace telltale::memory_snapshot {

class CallStacks {
 public:
  // All three must live as long as this does.
  CallStacks(const Values& values, Records& records, InternedStrings& strings);

  // Empty for what is no list of frames.
  StringId of(ValueId frames);

 private:
  StringId frame(ValueId value);

  const Values& values_;
  Records& records_;
  InternedStrings& strings_;
  std::vector<StringId> known_;  // of frames and of lists of them, by value; kUnknown
  InternedStrings frames_;       // their texts
  InternedStrings sequences_;    // of frames, as bytes
  std::vector<StringId> sequence_texts_;
};

}  // namespace telltale::memory_snapshot
