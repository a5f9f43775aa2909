#include "formats/kineto/block_storage.h"

#include <algorithm>
#include <utility>

#include "formats/kineto/scan.h"

namespace telltale::kineto {

std::shared_ptr<char[]> BlockPool::allocate(std::size_t bytes) {
  Storage storage;
  {
    const std::scoped_lock lock(free_->mutex);
    const auto fitting = std::ranges::find_if(
        free_->storages, [&](const Storage& candidate) { return candidate.capacity >= bytes + kPaddingBytes; });
    if (fitting != free_->storages.end()) {
      storage = std::move(*fitting);
      free_->storages.erase(fitting);
    }
  }
  if (!storage.bytes) {
    // A little more than asked for, so that it fits the next block too, whose carried text is longer.
    const std::size_t capacity = bytes + bytes / 8 + kPaddingBytes;
    storage = {std::make_unique_for_overwrite<char[]>(capacity), capacity};
  }
  char* const address = storage.bytes.release();
  return {address, [list = free_, capacity = storage.capacity](char* returned) {
            const std::scoped_lock lock(list->mutex);
            list->storages.push_back({std::unique_ptr<char[]>(returned), capacity});
          }};
}

std::shared_ptr<char[]> allocate_block(std::size_t bytes) {
  return std::make_shared_for_overwrite<char[]>(bytes + kPaddingBytes);
}

}  // namespace telltale::kineto
