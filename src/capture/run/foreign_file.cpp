#include "capture/run/foreign_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace telltale::capture {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

bool write_all(int file, const char* bytes, ssize_t size) {
  while (size > 0) {
    const ssize_t written = write(file, bytes, static_cast<std::size_t>(size));
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) {
      bytes += written;
      size -= written;
    }
  }
  return true;
}

bool copy_all(int from, int to) {
  std::string part(1 << 20, '\0');
  while (true) {
    const ssize_t size = read(from, part.data(), part.size());
    if (size == 0) return true;
    if (size < 0 && errno != EINTR) return false;
    if (size > 0 && !write_all(to, part.data(), size)) return false;
  }
}

}  // namespace

bool take_file(const std::filesystem::path& from, uid_t owner, const std::filesystem::path& to) {
  const Descriptor source(open(from.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status{};
  if (source.get() < 0 || fstat(source.get(), &status) != 0) return false;
  if (!S_ISREG(status.st_mode) || status.st_uid != owner) return false;
  unlink(to.c_str());
  const Descriptor target(open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (target.get() < 0) return false;
  if (!copy_all(source.get(), target.get())) {
    unlink(to.c_str());
    return false;
  }
  unlink(from.c_str());
  return true;
}

}  // namespace telltale::capture
