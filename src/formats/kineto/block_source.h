// Cuts the text of a file into blocks at places where an event seems to start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/error.h"
#include "formats/input/text_input.h"
#include "formats/kineto/block_parser.h"

namespace telltale::kineto {

// Memory for blocks of text, used again and again: fresh pages cost about as much as reading the text that goes there.
//
// Any thread may call allocate() and let go of what it returned, in any order and after the pool itself is gone.
class BlockPool {
 public:
  BlockPool() : free_(std::make_shared<FreeList>()) {}

  // At least `bytes` and the padding behind them.
  std::shared_ptr<char[]> allocate(std::size_t bytes);

 private:
  struct Storage {
    std::unique_ptr<char[]> bytes;
    std::size_t capacity = 0;
  };
  struct FreeList {
    std::mutex mutex;
    std::vector<Storage> storages;
  };
  std::shared_ptr<FreeList> free_;
};

// Used by one thread at a time.
class BlockSource {
 public:
  BlockSource(TextInput& input, std::size_t block_bytes) : input_(input), block_bytes_(block_bytes) {}

  // The next block; nothing after the last one. A block is larger than asked for where no event starts in it.
  Result<std::optional<TextBlock>> next();

  // The next `bytes` of the text behind what was pushed back, cut anywhere.
  Result<TextBlock> next_uncut(std::size_t bytes);
  Result<TextBlock> next_uncut() { return next_uncut(block_bytes_); }

  // Puts text back in front of what comes next: the end of a block that next() returned.
  void push_back(const TextBlock& block, std::size_t from);

  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  // Reads until the block holds `size` bytes or the text ends.
  Result<void> fill(TextBlock& block, std::size_t size);

  TextInput& input_;
  std::size_t block_bytes_;
  BlockPool pool_;
  TextBlock carried_;  // read, but behind the last cut
  std::uint64_t bytes_read_ = 0;
  bool is_exhausted_ = false;
};

// One block out of a block's end, from `from` on, and the block that follows it.
TextBlock joined(const TextBlock& first, std::size_t from, const TextBlock& second);

}  // namespace telltale::kineto
