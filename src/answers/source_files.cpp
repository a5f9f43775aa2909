#include "answers/source_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

namespace telltale::answers {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestFile = 5'000'000;
constexpr std::size_t kMostComponents = 64;
constexpr std::size_t kMostEntries = 50'000;

// Folders whose files are nobody's own program.
bool is_left_out(std::string_view folder) {
  return folder.starts_with('.') || folder == "node_modules" || folder == "site-packages" || folder == "__pycache__";
}

// From the last on. Empty where one of them leads elsewhere.
std::vector<std::string> components_from_the_end(std::string_view path) {
  std::vector<std::string> components;
  while (!path.empty() && components.size() < kMostComponents) {
    const std::size_t at = path.find_last_of("/\\");
    const std::string_view last = at == std::string_view::npos ? path : path.substr(at + 1);
    if (last == ".." || last.find('\0') != std::string_view::npos) return {};
    if (!last.empty() && last != ".") components.emplace_back(last);
    path = at == std::string_view::npos ? std::string_view() : path.substr(0, at);
  }
  return components;
}

bool is_inside(const fs::path& file, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end();
}

std::optional<std::string> found_at(const fs::path& folder, const fs::path& wanted) {
  std::error_code error;
  const fs::path file = fs::canonical(folder / wanted, error);
  if (error || !is_inside(file, folder) || !fs::is_regular_file(file, error) || error) return std::nullopt;
  return file.string();
}

// How many components a path has in common with others, which are given from the last on.
std::size_t shared_components(const std::vector<std::string>& from_the_end, fs::path path) {
  std::size_t shared = 0;
  while (shared < from_the_end.size() && path.filename() == from_the_end[shared]) {
    ++shared;
    path = path.parent_path();
  }
  return shared;
}

class OpenFile {
 public:
  // What is no regular file, such as a pipe that nobody writes to, is not waited for.
  explicit OpenFile(const std::string& path)
      : number_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

SourceIndex::SourceIndex(const std::vector<std::string>& folders) : names_(folders) {
  for (const std::string& name : folders) {
    std::error_code error;
    const fs::path folder = fs::canonical(name, error);
    if (error) continue;
    folders_.push_back(folder);
    add(folder);
  }
}

void SourceIndex::add(const fs::path& folder) {
  std::error_code error;
  fs::recursive_directory_iterator entries(folder, fs::directory_options::skip_permission_denied, error);
  for (std::size_t seen = 0; !error && entries != fs::end(entries) && seen < kMostEntries; ++seen) {
    const fs::path name = entries->path().filename();
    std::error_code unreadable;
    const fs::file_status status = entries->symlink_status(unreadable);
    if (fs::is_directory(status) && is_left_out(name.string())) entries.disable_recursion_pending();
    if (fs::is_regular_file(status))
      by_name_.emplace(name.string(), Entry{entries->path(), entries->path().lexically_relative(folder)});
    entries.increment(error);
  }
}

Result<std::string> SourceIndex::find(std::string_view path) const {
  const std::vector<std::string> components = components_from_the_end(path);
  for (std::size_t count = components.size(); count > 0; --count) {
    fs::path wanted;
    for (std::size_t i = count; i-- > 0;) wanted /= components[i];
    for (const fs::path& folder : folders_)
      if (auto file = found_at(folder, wanted)) return *std::move(file);
  }
  return find_below(components);
}

Result<std::string> SourceIndex::find_below(const std::vector<std::string>& components) const {
  const Entry* best = nullptr;
  std::size_t most = 0, with_most = 0;
  if (!components.empty()) {
    const auto [first, end] = by_name_.equal_range(components.front());
    for (auto each = first; each != end; ++each) {
      const std::size_t alike = shared_components(components, each->second.relative);
      if (alike > most) {
        most = alike;
        with_most = 0;
        best = &each->second;
      }
      with_most += alike == most;
    }
  }
  if (best == nullptr)
    return failure(fmt::format("There is no such file in {}; give --source the folder that the program stands in.",
                               fmt::join(names_, " or ")));
  if (with_most > 1)
    return failure(fmt::format("{} files below {} have that name; give --source the folder that the program stands in.",
                               with_most, fmt::join(names_, " or ")));
  return best->file.string();
}

Result<std::vector<std::string>> read_lines(const std::string& file) {
  const OpenFile opened(file);
  struct stat about{};
  if (opened.number() < 0 || fstat(opened.number(), &about) != 0) return failure("The file cannot be read.");
  if (!S_ISREG(about.st_mode)) return failure("Only regular files are shown.");
  std::string text(kLargestFile + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = read(opened.number(), text.data() + size, text.size() - size);
    if (got < 0) return failure("The file cannot be read.");
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > kLargestFile) return failure("The file is larger than 5 MB, and is not shown.");
  text.resize(size);
  return split(text);
}

}  // namespace telltale::answers
