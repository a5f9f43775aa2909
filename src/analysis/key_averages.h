// What torch.profiler's key_averages() says, from a trace: calls, times, memory and FLOPs of everything with one name.
//
// Times agree with torch's, its habits included: an operator is folded into a parent of the same name that has no
// other child, and `cpu_ns` and `device_ns` count nested calls of one name once for each. `cpu_once_ns` does not.
// Pure and thread-safe; linear in the trace's events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/call_tree.h"
#include "analysis/source_line.h"
#include "analysis/step_range.h"
#include "base/time.h"
#include "trace/shapes.h"
#include "trace/trace.h"

namespace telltale {

enum class Grouping : std::uint8_t { kName, kShape, kStack };

// The rows of torch's table that stand for host events.
inline constexpr KindSet kTorchHostKinds = {Kind::kOperator, Kind::kAnnotation, Kind::kRuntime, Kind::kDriver};

struct KeyAveragesOptions {
  KindSet kinds = kTorchHostKinds;
  Grouping grouping = Grouping::kName;
  std::size_t stack_depth = 5;     // how many frames tell stacks apart
  std::optional<StepRange> steps;  // only what these steps called; device work counts where it was launched
  // Work of a CUDA graph counts for what captured it, where that was recorded; torch counts it for what launched the
  // graph.
  bool counts_captures = false;
  // Work that is launched outside all operators counts for the annotation around the launch; torch counts it for none.
  bool annotations_launch = true;
};

// A row. What the trace cannot say is absent: host times of device work, memory that was not recorded, and so on.
struct KeyAverage {
  std::string name;
  Kind kind = Kind::kOther;
  std::int64_t calls = 0;
  bool is_sampled = false;                    // Python calls that were seen by samples: nobody counted them
  Nanoseconds first_start = 0;                // of these calls
  EventId example = kNoEvent;                 // the longest of them
  std::optional<Nanoseconds> self_cpu_ns;     // without the calls inside
  std::optional<Nanoseconds> cpu_ns;          // with the calls inside
  std::optional<Nanoseconds> cpu_once_ns;     // each nanosecond of a thread once, however calls nest
  std::optional<Nanoseconds> self_device_ns;  // device work launched by these calls themselves
  std::optional<Nanoseconds> device_ns;       // and by the calls inside
  std::optional<std::int64_t> cpu_memory_bytes, self_cpu_memory_bytes;
  std::optional<std::int64_t> device_memory_bytes, self_device_memory_bytes;
  std::optional<std::int64_t> flops;
  std::optional<std::vector<Shape>> input_shapes;  // when grouped by shape
  std::optional<std::vector<std::string>> stack;   // when grouped by stack; innermost frame first
  std::optional<SourceLine> source;                // where all its calls stand, when that is one place

  std::optional<std::int64_t> known_calls() const;
  std::optional<Nanoseconds> cpu_average_ns() const;
  std::optional<Nanoseconds> device_average_ns() const;
};

struct KeyAverages {
  std::vector<KeyAverage> rows;  // in the order in which the trace first has them

  // Of the whole trace, or of the chosen steps, whichever kinds the rows show.
  struct Totals {
    Nanoseconds self_cpu_ns = 0;                // of the kinds in kTorchHostKinds
    std::optional<Nanoseconds> self_device_ns;  // absent when the trace has no device work
  } totals;

  std::uint64_t lost = 0, repaired = 0;  // anomalies of the trace that are no notes
};

// The part of a whole, from 0 to 1; nothing when either is absent or the whole is nothing.
std::optional<double> share_of(std::optional<Nanoseconds> part, std::optional<Nanoseconds> whole);

KeyAverages key_averages(const Trace& trace, const KeyAveragesOptions& options = {});

}  // namespace telltale
