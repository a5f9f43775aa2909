// The trace that a command works on: how it is named, which of its steps count, and the line that says how far we are.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "answers/source.h"
#include "cli/command.h"

namespace telltale::cli {

// Declares TRACE and returns its option; `path` must live as long as `app`.
CLI::Option* declare_trace(CLI::App& app, std::string& path);

// Declares --steps.
void declare_steps(CLI::App& app, std::optional<std::string>& steps);

// The source with what all commands were told about reading. What is done with it shows on the screen when it takes a
// while, until the source and its copies are gone.
answers::Source shown_while_read(answers::Source source, const GlobalOptions& globals);

// A request as it is asked. Ask with the temporary, so that the line on the screen is gone before an answer is printed.
template <typename Request>
Request asked(Request request, const GlobalOptions& globals) {
  request.source = shown_while_read(std::move(request.source), globals);
  return request;
}

}  // namespace telltale::cli
