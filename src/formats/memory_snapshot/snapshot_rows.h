// The parts of a snapshot as rows: what torch.cuda.memory._snapshot() of any version says, in one spelling.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/interned_strings.h"
#include "formats/memory_snapshot/allocator_state.h"
#include "formats/memory_snapshot/values.h"
#include "trace/allocator_log.h"
#include "trace/anomalies.h"

namespace telltale::memory_snapshot {

// One half of what record_function() marks.
struct AnnotationMark {
  Nanoseconds time = 0;
  DeviceId device = 0;
  StringId name = kEmptyString;
  bool is_end = false;
};

struct SnapshotRows {
  std::map<DeviceId, AllocatorState> states;                // when it was taken
  std::map<DeviceId, std::vector<AllocatorEvent>> entries;  // the oldest first; times are those of the file
  std::vector<AnnotationMark> annotations;                  // likewise
  std::string settings;                                     // JSON; empty: the file has none
};

// Texts go to `strings`. What cannot be taken is counted. `path` is what errors call the file.
Result<SnapshotRows> snapshot_rows(const Document& document, const std::string& path, InternedStrings& strings,
                                   Anomalies& anomalies);

}  // namespace telltale::memory_snapshot
