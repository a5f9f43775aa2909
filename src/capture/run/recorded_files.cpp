#include "capture/run/recorded_files.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <system_error>

#include "capture/kineto/configuration.h"
#include "tell/layout.h"

namespace telltale::capture {
namespace {

namespace fs = std::filesystem;

// What a recording may be kept as: what can be read again.
constexpr std::array<std::string_view, 4> kExtensions = {".tell", ".json", ".json.gz", ".json.zst"};

// The script that a command runs, or the module behind -m, or the program.
std::string subject_of(const std::vector<std::string>& command) {
  for (std::size_t i = 1; i < command.size(); ++i) {
    if (command[i].ends_with(".py")) return fs::path(command[i]).stem();
    if (command[i] == "-m" && i + 1 < command.size()) return command[i + 1];
  }
  return command.empty() ? "process" : fs::path(command.front()).filename().string();
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool cut_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool cut_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

// "4711" and ".1" of "4711.1".
bool split_pid(std::string_view text, RecordedFile& file) {
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view cycle = text.substr(point);
  if (!is_number(text.substr(0, point)) || (!cycle.empty() && !is_number(cycle.substr(1)))) return false;
  file.cycle = cycle;
  return std::from_chars(text.data(), text.data() + point, file.pid).ec == std::errc();
}

bool is_worse(const RecordedFile& file, const std::vector<RecordedFile>& all) {
  return file.is_empty || std::ranges::any_of(all, [&](const RecordedFile& other) {
           return other.pid == file.pid && !other.is_empty &&
                  std::pair(other.is_cut_off, other.is_stand_in) < std::pair(file.is_cut_off, file.is_stand_in);
         });
}

}  // namespace

std::string default_stem(const std::vector<std::string>& command, const std::tm& now) {
  std::string subject = subject_of(command);
  std::ranges::replace_if(subject, [](char c) { return !is_plain(c); }, '_');
  return fmt::format("telltale_{}_{:%Y%m%d-%H%M%S}", subject, now);
}

fs::path OutputName::path_of(int pid, std::string_view cycle, bool is_only_process) const {
  return folder / (is_only_process ? fmt::format("{}{}{}", stem, cycle, extension)
                                   : fmt::format("{}_{}{}{}", stem, pid, cycle, extension));
}

Result<OutputName> output_name(const std::string& output, const std::string& stem, std::string_view engine_extension) {
  std::error_code error;
  fs::path path = output.empty() ? fs::current_path(error) : fs::absolute(output, error).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // "runs/" is "runs"
  if (error) return failure("cannot find the current folder: " + error.message());
  OutputName name{path, stem, std::string(engine_extension)};
  if (!output.empty() && !fs::is_directory(path, error)) {
    name.folder = path.parent_path();
    const std::string file = path.filename();
    const auto* const ending =
        std::ranges::find_if(kExtensions, [&](std::string_view each) { return file.ends_with(each); });
    if (ending == kExtensions.end() || file.size() == ending->size())
      return failure("its extension is not that of a recording; use .tell, .json, .json.gz or .json.zst", output);
    name.stem = file.substr(0, file.size() - ending->size());
    name.extension = *ending;
  }
  if (!fs::is_directory(name.folder, error)) return failure("no such folder", name.folder);
  return name;
}

std::optional<RecordedFile> recognized(const fs::path& path, const std::string& stem) {
  const std::string name = path.filename();
  std::string_view rest = name;
  RecordedFile file{path};
  if (!cut_prefix(rest, stem)) return std::nullopt;
  file.is_stand_in = cut_prefix(rest, "_time");
  file.is_cut_off = cut_suffix(rest, ".tmp");
  if (!cut_prefix(rest, "_")) return std::nullopt;
  if (!cut_suffix(rest, ".json") && (file.is_cut_off || !cut_suffix(rest, ".tell"))) return std::nullopt;
  if (!split_pid(rest, file)) return std::nullopt;
  return file;
}

std::vector<RecordedFile> gathered(const fs::path& folder, const std::string& stem) {
  std::vector<RecordedFile> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    auto file = recognized(entry->path(), stem);
    std::error_code unknown;
    if (!file || !entry->is_regular_file(unknown)) continue;
    file->is_empty = fs::file_size(file->path, unknown) == 0 || (file->is_cut_off && !has_operators(file->path));
    files.push_back(std::move(*file));
  }
  std::ranges::sort(files, {}, [](const RecordedFile& file) { return std::pair(file.pid, file.cycle); });
  return files;
}

bool is_complete(const fs::path& recording) {
  std::ifstream file(recording, std::ios::binary);
  std::array<char, sizeof tell::kTrailerMagic> last{};
  file.seekg(-static_cast<std::streamoff>(last.size()), std::ios::end);
  return file.read(last.data(), last.size()) &&
         std::ranges::equal(last, tell::kTrailerMagic, {}, {}, [](unsigned char c) { return static_cast<char>(c); });
}

bool is_worth_having(const std::string& trace_file) {
  std::error_code error;
  if (!fs::exists(trace_file, error)) return false;
  if (has_operators(trace_file)) return true;
  fs::remove(trace_file, error);
  return false;
}

std::vector<RecordedFile> kept_files(const std::vector<RecordedFile>& files) {
  std::vector<RecordedFile> kept;
  for (const RecordedFile& file : files) {
    std::error_code error;
    if (!is_worse(file, files)) {
      kept.push_back(file);
    } else {
      fs::remove(file.path, error);
    }
  }
  return kept;
}

}  // namespace telltale::capture
