#include "record/standard_error.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

namespace telltale::record {
namespace {

struct Identity {
  dev_t device = 0;
  ino_t inode = 0;
};
constinit Identity remembered;

}  // namespace

void remember_standard_error() {
  struct stat status{};
  const bool is_there = fstat(STDERR_FILENO, &status) == 0;
  remembered = is_there ? Identity{status.st_dev, status.st_ino} : Identity{};
}

void say(const char* sentence) {
  struct stat status{};
  if (fstat(STDERR_FILENO, &status) != 0) return;
  // A terminal or a pipe holds nothing that a line could spoil.
  const bool is_same = status.st_dev == remembered.device && status.st_ino == remembered.inode;
  if (is_same || !S_ISREG(status.st_mode)) dprintf(STDERR_FILENO, "telltale: %s\n", sentence);
}

}  // namespace telltale::record
