// Gauges for the trace that PyTorch's profiler wrote of a process without knowing of them.
#pragma once

#include <filesystem>
#include <span>

#include "capture/run/gauge_log.h"

namespace telltale::capture {

// Puts the readings of the trace's time, and those right behind it, as counters first into the list of
// events of a JSON trace; its other bytes stay as they are. Nothing changes where the file is no such trace, has no
// events, or cannot be written.
void add_gauge_events(const std::filesystem::path& trace, int pid, std::span<const GaugeReading> readings);

}  // namespace telltale::capture
