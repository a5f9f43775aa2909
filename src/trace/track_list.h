// The list of processes and tracks, and their names.
#pragma once

#include <span>
#include <vector>

#include "trace/builder.h"
#include "trace/translator.h"

namespace telltale {

// Which tracks a process and thread number can mean, threads and streams alike.
class TracksByPlace {
 public:
  explicit TracksByPlace(const InternedValues<TrackKey>& keys);
  const std::vector<TrackId>& operator()(const FlowPlace& place);

 private:
  InternedValues<FlowPlace> places_;
  std::vector<std::vector<TrackId>> tracks_;  // of each place, in ascending order
};

// Fills Trace::tracks and Trace::processes with all tracks that the translator has met, named by the labels: of several
// for the same thing the last one counts. The tracks' events are left empty.
void make_tracks(Translator& translator, std::span<const NamedLabel> labels, Trace& trace);

}  // namespace telltale
