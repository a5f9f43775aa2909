#include "formats/output/file_sink.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace telltale {

Result<std::unique_ptr<FileSink>> FileSink::onto(int descriptor, std::string name) {
  const int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return failure(std::string("cannot be written: ") + std::strerror(errno), name);
  return std::unique_ptr<FileSink>(new FileSink(own, std::move(name)));
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
