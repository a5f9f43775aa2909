#include "serve/secret.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cstddef>

namespace telltale::serve {

Result<std::string> new_secret() {
  std::array<unsigned char, 32> bytes;
  // Up to 256 bytes come whole, and no signal interrupts them, once the kernel has any.
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return failure("the kernel gives no random bytes, without which the page could be opened by others");
  std::string digits;
  for (const unsigned char byte : bytes) digits += fmt::format("{:02x}", byte);
  return digits;
}

bool is_same_secret(std::string_view given, std::string_view secret) {
  if (given.size() != secret.size()) return false;
  volatile unsigned char difference = 0;
  for (std::size_t at = 0; at < secret.size(); ++at)
    difference = difference | static_cast<unsigned char>(given[at] ^ secret[at]);
  return difference == 0;
}

}  // namespace telltale::serve
