// The same trace, or a part of it, in another format.
#pragma once

#include <optional>
#include <string>

#include "answers/source.h"
#include "answers/spelling.h"
#include "base/error.h"
#include "formats/output/left_out.h"

namespace telltale::answers {

struct ConvertRequest {
  Source source;
  Spelling spelling = Spelling::kFlags;
  std::string output;                   // a file, or "-" for standard output
  std::optional<std::string> format;    // where the file's ending does not name it
  std::optional<std::string> steps;     // only these
  std::optional<std::string> from, to;  // only what happens between these times from the trace's start: "1.5s", "200ms"
  bool overwrite = false;
};

struct ConvertAnswer {
  LeftOutList left_out;  // what the format has no place for

  std::string terminal() const;  // a line for each; empty when everything was written
};

Result<ConvertAnswer> convert(const ConvertRequest& request);

// "tell, kineto, …": what `format` may be.
std::string format_words();

}  // namespace telltale::answers
