// What every reader may be told.
#pragma once

#include <cstdint>

namespace telltale {

struct ReadOptions {
  unsigned threads = 0;  // 0: as many as the machine has
  // A file that decompresses to more than this is refused: it is a mistake or an attack.
  std::uint64_t max_text_bytes = std::uint64_t{64} << 30;
};

}  // namespace telltale
