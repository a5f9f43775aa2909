#include "capture/rapl/rapl_energy.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace telltale::capture {
namespace {

constexpr std::string_view kZonePrefix = "intel-rapl:";
constexpr std::string_view kPackagePrefix = "package";

int open_to_read(const std::string& path) { return open(path.c_str(), O_RDONLY | O_CLOEXEC); }

// From its beginning: the kernel makes the text anew each time.
std::string text_in(int file) {
  char text[64];
  ssize_t size = 0;
  do {
    size = pread(file, text, sizeof text, 0);
  } while (size < 0 && errno == EINTR);
  return {text, static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

std::string text_of(const std::string& path) {
  const int file = open_to_read(path);
  if (file < 0) return {};
  std::string text = text_in(file);
  close(file);
  return text;
}

std::optional<std::uint64_t> number_in(const std::string& text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  return std::strtoull(text.c_str(), nullptr, 10);
}

std::vector<std::string> zones_in(const std::string& folder) {
  std::vector<std::string> zones;
  DIR* const entries = opendir(folder.c_str());
  if (entries == nullptr) return zones;
  while (const dirent* entry = readdir(entries))
    if (std::string_view(entry->d_name).starts_with(kZonePrefix)) zones.push_back(folder + "/" + entry->d_name);
  closedir(entries);
  return zones;
}

}  // namespace

RaplEnergy::RaplEnergy(const std::string& folder) {
  for (const std::string& zone : zones_in(folder)) {
    if (!text_of(zone + "/name").starts_with(kPackagePrefix)) continue;
    Package package;
    package.file = open_to_read(zone + "/energy_uj");
    if (package.file < 0) continue;
    const std::optional<std::uint64_t> now = number_in(text_in(package.file));
    if (!now) {
      close(package.file);
      continue;
    }
    package.before = *now;
    package.range = number_in(text_of(zone + "/max_energy_range_uj")).value_or(0);
    packages_.push_back(package);
  }
}

RaplEnergy::~RaplEnergy() {
  for (const Package& package : packages_) close(package.file);
}

std::optional<double> RaplEnergy::joules() {
  bool is_readable = false;
  std::uint64_t used = 0;
  for (Package& package : packages_) {
    if (const std::optional<std::uint64_t> now = number_in(text_in(package.file))) {
      is_readable = true;
      if (*now >= package.before)
        package.used += *now - package.before;
      else if (package.range >= package.before)
        package.used += package.range - package.before + *now;
      package.before = *now;
    }
    used += package.used;
  }
  if (!is_readable) return std::nullopt;
  return static_cast<double>(used) / 1e6;
}

}  // namespace telltale::capture
