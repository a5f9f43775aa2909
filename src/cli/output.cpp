#include "cli/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "base/text_encoding.h"
#include "report/text_width.h"

namespace telltale::cli {
namespace {

constexpr std::size_t kWidthOfPipes = 120;
constexpr std::size_t kNarrowest = 40;

std::string_view environment(const char* name) {
  const char* value = secure_getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::size_t output_width(int descriptor) {
  const long columns = std::strtol(std::string(environment("COLUMNS")).c_str(), nullptr, 10);
  if (columns > 0) return std::max(static_cast<std::size_t>(columns), kNarrowest);
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return std::max<std::size_t>(size.ws_col, kNarrowest);
  return kWidthOfPipes;
}

}  // namespace

TextStyle output_style(int descriptor) {
  const bool has_color = isatty(descriptor) != 0 && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  return {output_width(descriptor), has_color};
}

Result<ExitCode> print(std::string_view text, int descriptor) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      return kDone;
    } else if (errno != EINTR) {
      return failure(std::string("the output could not be written: ") + std::strerror(errno));
    }
  }
  return kDone;
}

Result<ExitCode> print_data(std::string_view text) {
  if (isatty(STDOUT_FILENO) == 0) return print(text);
  std::string shown;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    shown += printable(repaired_utf8(text.substr(0, end + 1)));
    if (text[end] == '\n') shown.back() = '\n';
    text.remove_prefix(end + 1);
  }
  return print(shown);
}

void say(const std::string& sentence) {
  std::cerr << "telltale: " + printable(repaired_utf8(sentence)) + '\n' << std::flush;
}

}  // namespace telltale::cli
