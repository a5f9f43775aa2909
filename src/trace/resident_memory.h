// How much of the machine's memory processes have, as counters of that name, ten times a second: a series for the
// recorded process, and one for each of its children, such as a loader's workers. The most that the process ever had
// stands in the metadata when a recording of memory ends.
#pragma once

#include <string_view>

namespace telltale {

inline constexpr std::string_view kResidentMemory = "resident memory";          // in bytes
inline constexpr std::string_view kOwnProcess = "value";                        // the series of the process itself
inline constexpr std::string_view kPeakResidentMemory = "peak_resident_bytes";  // in Trace::metadata

// "process 1234": the series of a child.
inline bool is_process_series(std::string_view series) { return series.starts_with("process "); }

}  // namespace telltale
