#include "formats/write_trace.h"

#include <unistd.h>

#include <algorithm>

#include "formats/collapsed/write.h"
#include "formats/csv/write.h"
#include "formats/kineto/write.h"
#include "formats/memory_snapshot/write.h"
#include "formats/output/file_sink.h"
#include "formats/perfetto/write.h"
#include "formats/speedscope/write.h"
#include "formats/tell/write.h"

namespace telltale {
namespace {

// `name` is what the file is to be called, or "-".
Result<LeftOutList> write_to(int descriptor, const std::string& name, const Trace& trace, const OutputFormat& format,
                             const WriteProgress& progress) {
  auto file = FileSink::onto(descriptor, name == "-" ? "standard output" : name);
  if (!file) return std::unexpected(file.error());
  const auto sink = compressing_sink(without_compression(name).compression, **file);
  TextWriter out(*sink);
  LeftOutList left_out = format.write(trace, out, progress);
  if (const auto finished = out.finish(); !finished && !(*file)->has_lost_its_reader())
    return std::unexpected(finished.error());
  return left_out;
}

}  // namespace

std::span<const OutputFormat> output_formats() {
  static const std::vector<OutputFormat> kFormats = {
      {"tell", {".tell"}, "Telltale's own: small, quick to read, nothing is lost", tell::write},
      {"kineto", {".json"}, "JSON as torch.profiler writes it; Perfetto and chrome://tracing open it", kineto::write},
      {"perfetto", {".pftrace", ".perfetto-trace"}, "Perfetto's own protobuf messages", perfetto::write},
      {"collapsed", {".folded", ".collapsed"}, "stacks with their nanoseconds, for flame graphs", collapsed::write},
      {"speedscope", {".speedscope.json"}, "for speedscope.app", speedscope::write},
      {"memory_snapshot",
       {".pickle"},
       "the log of torch's allocators, for pytorch.org/memory_viz",
       memory_snapshot::write},
      {"csv", {".csv"}, "a line for each event, for spreadsheets and data frames", csv::write},
  };
  return kFormats;
}

const OutputFormat* format_named(std::string_view name) {
  const auto found = std::ranges::find(output_formats(), name, &OutputFormat::name);
  return found == output_formats().end() ? nullptr : &*found;
}

const OutputFormat* format_of_file(std::string_view path) {
  const std::string_view name = without_compression(path).path;
  const OutputFormat* found = nullptr;
  std::size_t longest = 0;  // .speedscope.json is not .json
  for (const OutputFormat& format : output_formats()) {
    for (const std::string_view extension : format.extensions) {
      if (!name.ends_with(extension) || extension.size() <= longest) continue;
      longest = extension.size();
      found = &format;
    }
  }
  return found;
}

Result<LeftOutList> write_trace(const Trace& trace, const OutputFormat& format, const std::string& path,
                                const WriteOptions& options) {
  if (path == "-") return write_to(STDOUT_FILENO, path, trace, format, options.progress);
  auto file = PendingFile::reserve(path, options.existing, options.readers);
  if (!file) return std::unexpected(file.error());
  auto left_out = write_to(file->descriptor(), path, trace, format, options.progress);
  if (!left_out) return left_out;
  if (const auto committed = file->commit(); !committed) return std::unexpected(committed.error());
  return left_out;
}

}  // namespace telltale
