// What the command answers about a trace, for Python: the same requests, in the same words, and the same answers.
//
// A function may be called without the GIL, and is pure but for what it says about a mistake in the request.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "trace/trace.h"

namespace telltale::python {

// An answer in all its forms. Each is made when it is asked for; the page may be absent.
struct Answer {
  std::function<std::string()> json;             // what --json prints
  std::function<std::string(std::size_t)> text;  // what a terminal of that width without colors shows
  std::function<std::string()> page;             // HTML, complete
};

struct LoadedTrace {
  std::shared_ptr<const Trace> trace;
  std::string path;  // as it was named
};

struct TopRequest {
  std::optional<std::string> by;                  // a word for rows
  std::optional<std::vector<std::string>> kinds;  // or the kinds of events that have rows
  std::string group = "name";
  std::size_t stack_depth = 5;
  std::optional<std::string> steps, sort;
  std::optional<std::size_t> limit;
};

struct AnalyzeRequest {
  std::optional<std::string> steps;
  std::vector<std::string> rules;
  double min_saving = 1;
};

struct WhatIfRequest {
  std::vector<std::string> remove;
  std::vector<std::pair<std::string, double>> scale;
  bool no_sync = false, instant_data = false, graph = false, no_observer = false;
  std::optional<std::string> steps;
};

Answer info(const LoadedTrace& loaded);
Result<Answer> top(const LoadedTrace& loaded, const TopRequest& request);
Result<Answer> analyze(const LoadedTrace& loaded, const AnalyzeRequest& request);
Result<Answer> what_if(const LoadedTrace& loaded, const WhatIfRequest& request);

}  // namespace telltale::python
