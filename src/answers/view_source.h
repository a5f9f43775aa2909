// The files of the program with the time beside their lines. Their text is shown where the user allowed it on the
// command line; whoever asks names a file by its number, never by a path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "analysis/line_times.h"
#include "answers/view.h"
#include "answers/view_kept.h"
#include "base/error.h"

namespace telltale::answers {

using FileNumber = std::uint64_t;  // of a file's path, the same whatever the steps; fits into a number of JSON

struct SourceRequest {
  std::optional<FileNumber> file;  // without it, which there are
  StepsText steps;
};

struct ListedFile {
  FileNumber id = 0;
  std::string file;
  CodeOwner owner = CodeOwner::kUser;
  Nanoseconds host_ns = 0, device_ns = 0;  // a step
  bool is_readable = false;
};

struct ShownLine {
  int line = 0;
  std::optional<std::string> text;
  Nanoseconds host_ns = 0, device_ns = 0;  // a step
  double calls = 0;                        // likewise
  EventId example = kNoEvent;
};

struct SourceFiles {
  std::vector<ListedFile> files;  // by falling time
};

struct SourceText {
  FileNumber id = 0;
  std::string file;
  std::optional<std::string> problem;  // why there is no text, and what to do
  std::vector<ShownLine> lines;        // all, or those with time
  std::int64_t mean_of = 1;            // over so many steps the numbers are a step's mean
};

struct SourceAnswer {
  std::variant<SourceFiles, SourceText> shown;

  std::string json() const;
};

Result<SourceAnswer> source(const View& view, const SourceRequest& request);

FileNumber number_of_file(std::string_view path);

}  // namespace telltale::answers
