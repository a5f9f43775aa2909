// Reads a trace of whatever format a file turns out to have.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "formats/input/read_options.h"
#include "formats/input/text_input.h"
#include "trace/trace.h"

namespace telltale {

// A format that is read. A new one is a folder with these two functions, and a line in the list in read_trace.cpp.
struct Reader {
  std::string_view name;
  // Whether no other format starts like this one. JSON may be many things, some of which are refused by name.
  enum class Mark : bool { kShared, kOwn } mark = Mark::kShared;
  // Whether a file that starts like this is one. It is shown up to 64 KiB, decompressed.
  bool (*recognizes)(std::string_view first_bytes);
  // `path` is what errors call the file.
  Result<Trace> (*read)(TextInput& input, const std::string& path, const ReadOptions& options);
};
std::span<const Reader> readers();

// `path` may be "-" for standard input.
Result<Trace> read_trace(const std::string& path, const ReadOptions& options = {});

}  // namespace telltale
