#include "formats/kineto/block_source.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "formats/kineto/scan.h"

namespace telltale::kineto {
namespace {

// Where no event starts in so much text, none will: go on in pieces rather than hold it all.
constexpr std::size_t kLargestBlockBytes = std::size_t{256} << 20;

// For a block that is needed once.
std::shared_ptr<char[]> allocate_block(std::size_t bytes) {
  return std::make_shared_for_overwrite<char[]>(bytes + kPaddingBytes);
}

}  // namespace

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

Result<TextBlock> BlockSource::next_uncut(std::size_t bytes) {
  TextBlock block;
  const std::size_t carried = carried_.size;
  block.byte_offset = carried_.byte_offset;
  block.storage = pool_.allocate(carried + bytes);
  if (carried > 0) std::memcpy(block.storage.get(), carried_.begin(), carried);
  carried_ = {};
  block.size = carried;
  if (const auto filled = fill(block, carried + bytes); !filled) return std::unexpected(filled.error());
  pad(block);
  return block;
}

Result<std::optional<TextBlock>> BlockSource::next() {
  if (is_exhausted_ && carried_.size == 0) return std::nullopt;
  auto block = next_uncut();
  if (!block) return std::unexpected(block.error());
  while (!block->is_last) {
    const std::size_t cut = find_last_event_start(block->text());
    if (cut != std::string_view::npos) {
      carried_ = joined(*block, cut, {});
      block->size = cut;
      pad(*block);
      break;
    }
    if (block->size > kLargestBlockBytes) {
      carried_.byte_offset = block->byte_offset + block->size;
      break;
    }
    TextBlock larger = *block;
    larger.storage = allocate_block(2 * block->size);
    std::memcpy(larger.storage.get(), block->begin(), block->size);
    if (const auto filled = fill(larger, 2 * block->size); !filled) return std::unexpected(filled.error());
    pad(larger);
    *block = std::move(larger);
  }
  return block;
}

Result<void> BlockSource::fill(TextBlock& block, std::size_t size) {
  if (!is_exhausted_) {
    const std::size_t room = size - block.size;
    const auto got = input_.read({block.storage.get() + block.size, room});
    if (!got) return std::unexpected(got.error());
    block.size += *got;
    bytes_read_ += *got;
    is_exhausted_ = *got < room;
  }
  block.is_last = is_exhausted_;
  return {};
}

void BlockSource::push_back(const TextBlock& block, std::size_t from) { carried_ = joined(block, from, carried_); }

TextBlock joined(const TextBlock& first, std::size_t from, const TextBlock& second) {
  TextBlock block;
  const std::size_t kept = first.size - from;
  block.size = kept + second.size;
  block.storage = allocate_block(block.size);
  std::memcpy(block.storage.get(), first.begin() + from, kept);
  if (second.size > 0) std::memcpy(block.storage.get() + kept, second.begin(), second.size);
  block.byte_offset = first.byte_offset + from;
  block.is_last = second.is_last;
  pad(block);
  return block;
}

}  // namespace telltale::kineto
