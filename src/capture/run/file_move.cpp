#include "capture/run/file_move.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <string>
#include <system_error>

#include "formats/output/file_sink.h"

namespace telltale::capture {
namespace {

namespace fs = std::filesystem;
using Existing = PendingFile::Existing;

// 0 or an errno.
int renamed(const fs::path& from, const fs::path& to, Existing existing) {
  const unsigned flags = existing == Existing::kRefuse ? RENAME_NOREPLACE : 0;
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags) == 0) return 0;
  if (existing == Existing::kReplace || (errno != EINVAL && errno != ENOSYS)) return errno;
  // Some file systems know only this way not to replace a file.
  if (link(from.c_str(), to.c_str()) != 0) return errno;
  unlink(from.c_str());
  return 0;
}

Result<void> copied(const fs::path& from, const fs::path& to, Existing existing) {
  auto file = PendingFile::reserve(to, existing);
  if (!file) return std::unexpected(file.error());
  auto sink = FileSink::onto(file->descriptor(), to);
  if (!sink) return std::unexpected(sink.error());
  std::ifstream source(from, std::ios::binary);
  std::string part(1 << 20, '\0');
  while (source) {
    source.read(part.data(), static_cast<std::streamsize>(part.size()));
    const std::string_view read(part.data(), static_cast<std::size_t>(source.gcount()));
    if (auto written = (*sink)->write(read); !written) return written;
  }
  if (!source.eof()) return failure("could not be read", from);
  if (auto finished = (*sink)->finish(); !finished) return finished;
  return file->commit();
}

}  // namespace

Result<void> move_file(const fs::path& from, const fs::path& to, Existing existing) {
  std::error_code ignored;
  // PyTorch's profiler leaves that to the umask.
  fs::permissions(from, fs::perms::owner_read | fs::perms::owner_write, ignored);
  const int error = renamed(from, to, existing);
  if (error == 0) return {};
  if (error == EEXIST) return failure("a file of that name has appeared meanwhile", to);
  if (auto done = copied(from, to, existing); !done) return done;
  fs::remove(from, ignored);
  return {};
}

}  // namespace telltale::capture
