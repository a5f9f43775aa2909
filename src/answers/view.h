// An opened trace that is asked many questions: what is worth keeping between them is made once, here.
//
// Const, and safe to ask by several threads at a time.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "answers/source.h"
#include "answers/view_names.h"
#include "base/error.h"
#include "timeline/timeline.h"
#include "trace/trace.h"

namespace telltale::answers {

struct ViewKept;  // what answers keep for the next ones: view_kept.h

struct View {
  std::string path;  // as the user named it
  std::shared_ptr<const Trace> trace;
  std::shared_ptr<const Timeline> timeline;
  std::shared_ptr<const ViewNames> names;
  std::vector<std::string> source_folders;  // whose files may be shown
  std::shared_ptr<ViewKept> kept;
};

// Gives up what is soon made again and nobody has asked for since then: what stands in memory, which takes as much as a
// third of a trace. Returns whether there was any.
bool forget_unused_since(const View& view, std::chrono::steady_clock::time_point then);

// Reads the trace and makes what all questions but those about the diagnosis need.
Result<std::shared_ptr<const View>> open_view(Source source, std::vector<std::string> source_folders = {});

}  // namespace telltale::answers
