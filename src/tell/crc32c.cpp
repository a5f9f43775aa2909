#include "tell/crc32c.h"

#include <array>
#include <cstring>

namespace telltale::tell {
namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78;  // 0x1EDC6F41, bits reversed

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    table[byte] = crc;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> kTable = make_table();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t crc32c_by_instruction(const unsigned char* at, std::size_t size,
                                                                      std::uint32_t crc) {
  std::uint64_t state = ~crc;
  for (; size >= sizeof(std::uint64_t); size -= sizeof(std::uint64_t), at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    state = __builtin_ia32_crc32di(state, word);
  }
  auto narrow = static_cast<std::uint32_t>(state);
  for (; size > 0; --size) narrow = __builtin_ia32_crc32qi(narrow, *at++);
  return ~narrow;
}
#endif

}  // namespace

std::uint32_t crc32c_portable(const void* bytes, std::size_t size, std::uint32_t crc) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  crc = ~crc;
  for (; size > 0; --size) crc = (crc >> 8) ^ kTable[(crc ^ *at++) & 0xFF];
  return ~crc;
}

std::uint32_t crc32c(const void* bytes, std::size_t size, std::uint32_t crc) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2") != 0)
    return crc32c_by_instruction(static_cast<const unsigned char*>(bytes), size, crc);
#endif
  return crc32c_portable(bytes, size, crc);
}

}  // namespace telltale::tell
