#include "serve/followed_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <system_error>

namespace telltale::serve {

namespace fs = std::filesystem;

namespace {

fs::path recording_folder(const fs::path& path) {
  return path.parent_path() / fmt::format(".{}.recording", path.stem().string());
}

}  // namespace

bool is_being_recorded(const std::string& path) {
  std::error_code error;
  return fs::is_directory(recording_folder(path), error);
}

std::string file_behind(const std::string& path) {
  std::error_code error;
  if (fs::exists(path, error)) return path;
  std::string largest = path;
  std::uintmax_t most = 0;
  for (fs::directory_iterator each(recording_folder(path), error), end; !error && each != end; each.increment(error)) {
    std::error_code unknown;
    if (each->path().extension() != ".tell" || !each->is_regular_file(unknown)) continue;
    const std::uintmax_t bytes = each->file_size(unknown);
    if (unknown || bytes < most) continue;
    most = bytes;
    largest = each->path().string();
  }
  return largest;
}

std::optional<FileMark> mark_of(const std::string& path) {
  struct stat found{};
  if (stat(path.c_str(), &found) != 0) return std::nullopt;
  return FileMark{.device = found.st_dev,
                  .inode = found.st_ino,
                  .bytes = static_cast<std::uint64_t>(found.st_size),
                  .changed_ns = found.st_mtim.tv_sec * std::int64_t{1'000'000'000} + found.st_mtim.tv_nsec};
}

}  // namespace telltale::serve
