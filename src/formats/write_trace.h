// Writes a trace in any of the formats there are.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "formats/output/left_out.h"
#include "formats/output/pending_file.h"
#include "formats/output/text_writer.h"
#include "trace/trace.h"

namespace telltale {

struct OutputFormat {
  std::string_view name;                     // the word on the command line
  std::vector<std::string_view> extensions;  // how its files end, compression left aside; the usual one first
  std::string_view description;
  LeftOutList (*write)(const Trace& trace, TextWriter& out, const WriteProgress& progress);
};

std::span<const OutputFormat> output_formats();

// Null when there is none of that name, or none whose files end like that.
const OutputFormat* format_named(std::string_view name);
const OutputFormat* format_of_file(std::string_view path);

struct WriteOptions {
  PendingFile::Existing existing = PendingFile::Existing::kRefuse;
  PendingFile::Readers readers = PendingFile::Readers::kUser;
  WriteProgress progress;
};

// `path` may be "-" for standard output; a reader there that goes away early is no error. Otherwise the file is
// compressed where its name ends with .gz or .zst, and bears its name only once it is complete.
Result<LeftOutList> write_trace(const Trace& trace, const OutputFormat& format, const std::string& path,
                                const WriteOptions& options = {});

}  // namespace telltale
