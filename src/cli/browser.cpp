#include "cli/browser.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

namespace telltale::cli {
namespace {

bool is_set(const char* variable) {
  const char* value = secure_getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

bool has_display() {
  if (is_set("SSH_CONNECTION") || is_set("SSH_CLIENT") || is_set("SSH_TTY")) return false;
  return is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
}

void open_browser(const std::string& address) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  // A session of its own, so that Ctrl-C ends us and not the browser.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);

  std::string program = "xdg-open", argument = address;
  char* const words[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  const bool is_started = posix_spawnp(&child, words[0], &files, &attributes, words, ::environ) == 0;
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  // It may last as long as the browser, or be over at once.
  if (is_started) std::thread([child] { waitpid(child, nullptr, 0); }).detach();
}

}  // namespace telltale::cli
