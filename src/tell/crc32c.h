// CRC-32C (Castagnoli), as iSCSI and ext4 use it: finds a cut or damaged chunk.
#pragma once

#include <cstddef>
#include <cstdint>

namespace telltale::tell {

// `crc` is that of what came before, 0 at the start.
std::uint32_t crc32c(const void* bytes, std::size_t size, std::uint32_t crc = 0);

// The same without the processor's instruction for it.
std::uint32_t crc32c_portable(const void* bytes, std::size_t size, std::uint32_t crc = 0);

}  // namespace telltale::tell
