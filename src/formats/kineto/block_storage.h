// Memory for blocks of text, used again and again: fresh pages cost about as much as reading the text that goes there.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace telltale::kineto {

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

// The same for a block that is needed once.
std::shared_ptr<char[]> allocate_block(std::size_t bytes);

}  // namespace telltale::kineto
