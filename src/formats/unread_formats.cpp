#include "formats/unread_formats.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace telltale {
namespace {

using namespace std::string_view_literals;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// The members of a JSON object as far as the text goes, each with the text that starts at its value.
class TopLevelMembers {
 public:
  explicit TopLevelMembers(std::string_view text) {
    int depth = 0;
    std::string_view last_string;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const char c = text[at];
      if (c == '"') {
        const std::size_t begin = at + 1;
        for (at = begin; at < text.size() && text[at] != '"'; ++at)
          if (text[at] == '\\') ++at;
        last_string = text.substr(begin, std::min(at, text.size()) - begin);
      } else if (c == ':' && depth == 1) {
        members_.emplace_back(last_string, text.substr(at + 1));
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        --depth;
      }
    }
  }

  bool has(std::string_view name) const { return value(name).data() != nullptr; }
  // Whether the value, as far as it is short, holds these words.
  bool mentions(std::string_view name, std::string_view words) const {
    constexpr std::size_t kShort = 200;
    return value(name).substr(0, kShort).find(words) != std::string_view::npos;
  }

 private:
  std::string_view value(std::string_view name) const {
    const auto found = std::ranges::find(members_, name, &std::pair<std::string_view, std::string_view>::first);
    return found == members_.end() ? std::string_view() : found->second;
  }

  std::vector<std::pair<std::string_view, std::string_view>> members_;
};

// A file by its first bytes.
struct Sight {
  std::string_view bytes, path;

  bool starts_with(std::string_view mark) const { return bytes.starts_with(mark); }
  bool is_named(std::string_view ending) const { return path.ends_with(ending); }
  // A protocol buffer whose first field is a message of field 1.
  bool is_like_protobuf() const { return bytes.starts_with('\n'); }
  bool mentions_early(std::string_view words) const {
    constexpr std::size_t kEarly = 256;
    return bytes.substr(0, kEarly).find(words) != std::string_view::npos;
  }
};

constexpr std::string_view kRecordInstead = "record the program with `telltale record` or torch.profiler instead";

struct BinaryFormat {
  bool (*is_it)(const Sight&);
  std::string_view what;        // goes on after the name of the file
  std::string_view what_to_do;  // behind a semicolon
};

constexpr BinaryFormat kBinaryFormats[] = {
    {[](const Sight& file) { return file.starts_with("PK\3\4"sv) || file.starts_with("PK\5\6"sv); }, "is a zip archive",
     "unpack it and name the trace in it"},
    {[](const Sight& file) { return file.bytes.size() > 262 && file.bytes.substr(257, 5) == "ustar"sv; },
     "is a tar archive", "unpack it and name a trace in it"},
    {[](const Sight& file) { return file.starts_with("BZh"sv) && file.bytes.substr(4, 6) == "1AY&SY"sv; },
     "is compressed with bzip2", "decompress it with bunzip2 first"},
    {[](const Sight& file) {
       return file.starts_with(
           "\xFD"
           "7zXZ\0"sv);
     },
     "is compressed with xz", "decompress it with unxz first"},
    {[](const Sight& file) { return file.starts_with("\x04\x22\x4D\x18"sv); }, "is compressed with lz4",
     "decompress it with unlz4 first"},
    {[](const Sight& file) { return file.is_named(".nsys-rep") || file.is_named(".qdrep"); },
     "is a report of Nsight Systems, which Telltale does not read", kRecordInstead},
    {[](const Sight& file) { return file.is_named(".ncu-rep"); },
     "is a report of Nsight Compute, which Telltale does not read", kRecordInstead},
    {[](const Sight& file) { return file.starts_with("SQLite format 3\0"sv); },
     "is an SQLite database, such as Nsight Systems exports, which Telltale does not read", kRecordInstead},
    {[](const Sight& file) { return file.starts_with("PERFILE2"sv); },
     "is a recording of Linux perf, which Telltale does not read", kRecordInstead},
    {[](const Sight& file) { return file.starts_with("\x89HDF\r\n\x1a\n"sv); },
     "is an HDF5 file, which Telltale does not read", "name the trace that it was made from"},
    {[](const Sight& file) { return file.starts_with("PAR1"sv); }, "is a Parquet file, which Telltale does not read",
     "name the trace that it was made from"},
    {[](const Sight& file) {
       const bool has_planes = file.mentions_early("/host:") || file.mentions_early("/device:");
       return file.is_named(".xplane.pb") || (file.is_like_protobuf() && has_planes);
     },
     "is an XPlane profile of JAX or TensorFlow, which Telltale does not read", "open it with XProf (TensorBoard)"},
    {[](const Sight& file) {
       return file.is_named(".pftrace") || file.is_named(".perfetto-trace") || file.is_named(".perfetto");
     },
     "is a Perfetto trace, which Telltale writes but does not read",
     "open it at https://ui.perfetto.dev, or name the trace that it was made from"},
};

struct JsonFormat {
  bool (*is_it)(const TopLevelMembers&);
  std::string_view what, what_to_do;  // likewise
};

constexpr JsonFormat kJsonFormats[] = {
    {[](const TopLevelMembers& json) { return json.has("rocprofiler-sdk-tool"); },
     "is a JSON file of rocprofv3, which Telltale does not read", kRecordInstead},
    {[](const TopLevelMembers& json) { return json.mentions("$schema", "speedscope"); },
     "is a speedscope profile, which Telltale writes but does not read",
     "open it at https://www.speedscope.app, or name the trace that it was made from"},
    {[](const TopLevelMembers& json) {
       return json.has("meta") && (json.has("libs") || json.has("threads") || json.mentions("meta", "\"interval\""));
     },
     "is a profile of the Firefox Profiler, which Telltale does not read", "open it at https://profiler.firefox.com"},
    {[](const TopLevelMembers& json) {
       return (json.has("schema") && json.has("nodes")) || json.has("workload_graph");
     },
     "is a PyTorch execution trace (Chakra), which has no timeline",
     "record with torch.profiler and name the trace that it exports"},
    {[](const TopLevelMembers& json) { return json.has("nodes") && json.has("startTime") && json.has("endTime"); },
     "is a CPU profile of Chrome's DevTools, which Telltale does not read",
     "export a trace of the Performance panel instead"},
};

std::string sentence_of(std::string_view what, std::string_view what_to_do) {
  return std::string(what).append("; ").append(what_to_do);
}

}  // namespace

std::optional<std::string> why_not_read(std::string_view first_bytes, std::string_view path) {
  const auto start = std::ranges::find_if_not(first_bytes, is_space);
  if (start != first_bytes.end() && *start == '{') {
    const TopLevelMembers json(first_bytes);
    if (json.has("traceEvents")) return std::nullopt;
    for (const JsonFormat& format : kJsonFormats)
      if (format.is_it(json)) return sentence_of(format.what, format.what_to_do);
    return std::nullopt;
  }
  if (start != first_bytes.end() && *start == '[') return std::nullopt;
  for (const BinaryFormat& format : kBinaryFormats)
    if (format.is_it({first_bytes, path})) return sentence_of(format.what, format.what_to_do);
  return std::nullopt;
}

}  // namespace telltale
