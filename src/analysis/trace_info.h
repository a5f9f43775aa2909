// What a trace holds, for someone who has just been handed it.
//
// Pure and thread-safe; linear in the trace's events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "trace/device_clock.h"
#include "trace/trace.h"

namespace telltale {

struct StepInfo {
  std::int64_t index = 0;
  std::string name;
  Nanoseconds start_ns = 0, duration_ns = 0;
};

struct ProcessInfo {
  std::string name, labels;
  std::int64_t pid = 0;
};

struct TrackInfo {
  TrackId id = 0;
  std::string name;
  TrackKind kind = TrackKind::kThread;
  ProcessId process = 0;
  std::optional<DeviceId> device;  // of a stream
  std::int64_t native_id = 0;
  std::uint64_t events = 0;
};

struct TraceInfo {
  std::string path;                    // as the caller names it
  std::optional<std::uint64_t> bytes;  // of the file as it is stored; absent for standard input
  std::string format;
  std::string tool;                                           // what recorded it; empty when unknown
  std::vector<std::pair<std::string, std::string>> versions;  // "cuda_runtime" → "13.0"
  std::optional<std::string> recorded_at;                     // UTC, as 2026-11-15T03:25:49Z
  std::uint64_t text_bytes = 0;                               // decompressed
  std::uint64_t memory_bytes = 0;                             // of the trace as we hold it
  std::uint64_t events = 0, memory_events = 0, counter_values = 0, flows = 0;
  Nanoseconds duration_ns = 0;
  std::vector<StepInfo> steps;
  std::vector<Device> devices;
  std::string device_word;  // what to call them
  std::vector<ProcessInfo> processes;
  std::vector<TrackInfo> tracks;
  std::vector<std::pair<Kind, std::uint64_t>> kinds;  // those that occur, in the order of the enumeration
  Recorded recorded;
  std::optional<DeviceClock> device_clock;  // where the recorder measured it
  std::optional<Distributed> distributed;
  std::vector<AnomalyCount> anomalies;  // by severity
};

TraceInfo trace_info(const Trace& trace);

// Of anomalies that are no notes, and where to learn more: "2 things in the file were lost and 10 repaired: telltale
// info lists them." Empty when there are none.
std::string anomaly_sentence(std::uint64_t lost, std::uint64_t repaired);

}  // namespace telltale
