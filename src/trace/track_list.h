// The list of processes and tracks, and their names.
#pragma once

#include <span>

#include "trace/builder.h"
#include "trace/translator.h"

namespace telltale {

// Fills Trace::tracks and Trace::processes with all tracks that the translator has met, named by the labels: of several
// for the same thing the last one counts. The tracks' events are left empty.
void make_tracks(Translator& translator, std::span<const NamedLabel> labels, Trace& trace);

}  // namespace telltale
