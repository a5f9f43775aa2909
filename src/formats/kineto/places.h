// The pids and tids under which a trace's processes and tracks are written, so that a reader finds the same ones.
//
// The model has 0 where the file had text ("Spans"). What was text is written as text again, as far as its name tells;
// what counts is that different places stay different, and that marks about the recording stand in a process whose pid
// is text, which is how readers know them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace telltale::kineto {

// One pid and tid. Several tracks can share it: a thread and a stream of the same numbers.
struct Place {
  ProcessId process = 0;
  std::string tid;  // as JSON: 399 or "PyTorch Profiler"
  std::vector<TrackId> tracks;
};

class Places {
 public:
  explicit Places(const Trace& trace);

  // As JSON: 399 or "Spans".
  const std::string& pid(ProcessId process) const { return pids_[process]; }
  // The same for what is only about the recording: text in any case.
  const std::string& pid_of_recording(ProcessId process) const;

  // The category of spans that belong to no thread, by their track; as JSON.
  std::string_view async_category(TrackId track) const;

  const Place& of(TrackId track) const { return places_[place_of_track_[track]]; }
  const std::vector<Place>& all() const { return places_; }

 private:
  std::vector<std::string> pids_;
  std::vector<Place> places_;
  std::vector<std::size_t> place_of_track_;
};

// The name that the model gives to a track for which the file has none.
std::string default_track_name(const Track& track);

}  // namespace telltale::kineto
