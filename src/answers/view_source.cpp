#include "answers/view_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <expected>
#include <map>
#include <utility>

#include "answers/source_files.h"
#include "answers/view_steps.h"
#include "report/compact_json.h"
#include "report/text_width.h"

namespace telltale::answers {
namespace {

constexpr std::size_t kLongestPath = 500, kLongestLine = 2000;

std::string shown_path(const std::string& path) { return cut_to_width(printable(path), kLongestPath); }

SourceFiles files_in(const View& view, const LineTimes& times) {
  std::map<std::string, ListedFile> by_path;
  for (const LineTime& line : times.lines) {
    ListedFile& file = by_path[line.source.file];
    file.owner = line.owner;
    file.host_ns += line.host_ns;
    file.device_ns += line.device_ns;
  }
  const SourceIndex index(view.source_folders);
  SourceFiles found;
  for (auto& [path, file] : by_path) {
    file.id = number_of_file(path);
    file.file = shown_path(path);
    file.is_readable = index.find(path).has_value();
    found.files.push_back(std::move(file));
  }
  std::ranges::stable_sort(found.files, std::ranges::greater{},
                           [](const ListedFile& file) { return std::pair(file.device_ns, file.host_ns); });
  return found;
}

std::map<int, ShownLine> lines_in(const LineTimes& times, std::string_view path) {
  std::map<int, ShownLine> lines;
  for (const LineTime& time : times.lines) {
    if (time.source.file != path) continue;
    ShownLine& line = lines[time.source.line];
    line.line = time.source.line;
    line.host_ns += time.host_ns;
    line.device_ns += time.device_ns;
    line.calls += static_cast<double>(time.calls) / static_cast<double>(times.steps);
    if (line.example == kNoEvent) line.example = time.example;
  }
  return lines;
}

Result<std::vector<std::string>> text_of(const View& view, const std::string& path) {
  if (view.source_folders.empty())
    return failure("To see its text, open the trace with --source and the folder of the program.");
  const auto file = SourceIndex(view.source_folders).find(path);
  if (!file) return std::unexpected(file.error());
  return read_lines(*file);
}

SourceText text_in(const View& view, const LineTimes& times, const std::string& path) {
  SourceText shown{.id = number_of_file(path), .file = shown_path(path), .mean_of = times.steps};
  std::map<int, ShownLine> lines = lines_in(times, path);
  const auto text = text_of(view, path);
  if (text) {
    for (std::size_t i = 0; i < text->size(); ++i) {
      const int number = static_cast<int>(i) + 1;
      lines[number].line = number;
      lines[number].text = (*text)[i].substr(0, kLongestLine);
    }
  } else {
    shown.problem = text.error().message;
  }
  for (auto& [number, line] : lines) shown.lines.push_back(std::move(line));
  return shown;
}

}  // namespace

template <typename Fields>
void describe(Fields& fields, const ListedFile& file) {
  fields.object("SourceFile", "A file of the program");
  fields.member("id", file.id, "by which it is asked for");
  fields.member("file", file.file, "its path, as the recorder has it");
  fields.member("owner", file.owner, "`user`, `package` or `library`");
  fields.member("host_ns", file.host_ns, "a step");
  fields.member("device_ns", file.device_ns, "a step, of what was launched from it");
  fields.member("is_readable", file.is_readable, "whether its text can be shown");
}

template <typename Fields>
void describe(Fields& fields, const SourceFiles& files) {
  fields.object("SourceFiles", "The files with time");
  fields.member("files", files.files, "by falling time");
}

template <typename Fields>
void describe(Fields& fields, const ShownLine& line) {
  fields.object("SourceTextLine", "A line");
  fields.member("line", line.line, "its number");
  fields.member("text", line.text, "what stands there");
  fields.member("host_ns", line.host_ns, "a step");
  fields.member("device_ns", line.device_ns, "a step, of what was launched from it");
  fields.member("calls", Exact{line.calls}, "a step");
  fields.member("example", event_or_null(line.example), "the longest event that the line is known by");
}

template <typename Fields>
void describe(Fields& fields, const SourceText& text) {
  fields.object("SourceText", "A file of the program with the time beside its lines");
  fields.member("id", text.id, "by which it is asked for");
  fields.member("file", text.file, "its path, as the recorder has it");
  fields.member("problem", text.problem, "why there is no text, and what to do");
  fields.member("lines", text.lines, "all, or those with time");
  fields.member("mean_of", text.mean_of, "over so many steps the numbers are a step's mean");
}

std::string SourceAnswer::json() const {
  return std::visit([](const auto& answer) { return compact_json_of(answer); }, shown);
}

// FNV-1a, cut to what a number of JSON can hold.
FileNumber number_of_file(std::string_view path) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : path) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  return hash >> 12;
}

Result<SourceAnswer> source(const View& view, const SourceRequest& request) {
  const auto times = lines_of(view, request.steps);
  if (!times) return std::unexpected(times.error());
  if (!request.file) return SourceAnswer{files_in(view, **times)};
  const std::vector<LineTime>& lines = (*times)->lines;
  const auto found = std::ranges::find_if(
      lines, [&](const LineTime& line) { return number_of_file(line.source.file) == *request.file; });
  if (found == lines.end()) return failure(fmt::format("there is no file {} in these steps", *request.file));
  return SourceAnswer{text_in(view, **times, found->source.file)};
}

}  // namespace telltale::answers
