#include "formats/output/file_sink.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace telltale {

Result<std::unique_ptr<FileSink>> FileSink::open(const std::string& path, std::string name) {
  if (name.empty()) name = path == "-" ? "standard output" : path;
  constexpr mode_t kReadAndWriteForAll = 0666;  // less what the umask takes away
  const int descriptor = path == "-"
                             ? ::dup(STDOUT_FILENO)
                             : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kReadAndWriteForAll);
  if (descriptor < 0) return failure(std::string("cannot be written: ") + std::strerror(errno), name);
  return std::unique_ptr<FileSink>(new FileSink(descriptor, std::move(name)));
}

FileSink::~FileSink() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> FileSink::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      has_lost_its_reader_ = errno == EPIPE;
      return failure(std::string("could not be written: ") + std::strerror(errno), name_);
    }
  }
  return {};
}

Result<void> FileSink::finish() {
  if (::close(std::exchange(descriptor_, -1)) == 0) return {};
  return failure(std::string("could not be written: ") + std::strerror(errno), name_);
}

}  // namespace telltale
