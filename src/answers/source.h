// What a question is about: a trace that is in memory already, or a file to read it from.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "formats/input/read_options.h"
#include "trace/trace.h"

namespace telltale::answers {

// Told what is going on ("Reading", "Analyzing") and how much of it is done, from 0 to 1, where that is known. Called
// now and then by one thread at a time, not always that of the caller.
using Progress = std::function<void(std::string_view doing, std::optional<double> share)>;

struct Source {
  std::string path;                    // as the user named it; "-" is standard input
  std::shared_ptr<const Trace> trace;  // null: the file is read when the question is answered
  ReadOptions reading;                 // its `progress` is ours to set; its `stop` ends the reading
  Progress progress;                   // may be empty

  void tell(std::string_view doing, std::optional<double> share = {}) const {
    if (progress) progress(doing, share);
  }
};

// The source with its trace, read where it is not in memory yet. Everything that reads a trace reads it here.
Result<Source> load(Source source);

}  // namespace telltale::answers
