// A trace that is in memory, as what a question is about.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "answers/source.h"
#include "answers/view.h"

namespace telltale::answers {

inline Source source_of(Trace trace, std::string path = "train.json") {
  Source source;
  source.path = std::move(path);
  source.trace = std::make_shared<const Trace>(std::move(trace));
  return source;
}

inline std::shared_ptr<const View> view_of(Trace trace, std::vector<std::string> source_folders = {}) {
  return open_view(source_of(std::move(trace)), std::move(source_folders)).value();
}

}  // namespace telltale::answers
