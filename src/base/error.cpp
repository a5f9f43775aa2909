#include "base/error.h"

namespace telltale {

std::string to_string(const Error& error) {
  std::string line;
  if (!error.file.empty()) line = error.file + ": ";
  line += error.message;
  if (error.byte_offset) line += " (at byte " + std::to_string(*error.byte_offset) + ")";
  return line;
}

}  // namespace telltale
