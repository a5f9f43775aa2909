// What every reader may be told.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace telltale {

struct ReadOptions {
  unsigned threads = 0;  // 0: as many as the machine has
  // A file that decompresses to more than this is refused: it is a mistake or an attack.
  std::uint64_t max_text_bytes = std::uint64_t{64} << 30;
  // The text is worked on in blocks of about this size; tests make it tiny. The result does not depend on it.
  std::size_t block_bytes = std::size_t{2} << 20;
  // Called now and then with the share of the file that has been read, by one thread at a time.
  std::function<void(double)> progress;
  // Once it is true, reading ends before the next block, with an error. It must outlive the reading.
  const std::atomic<bool>* stop = nullptr;
};

}  // namespace telltale
