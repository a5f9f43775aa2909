#include "formats/tell/whole_text.h"

#include <algorithm>

namespace telltale::tell {
namespace {

// What a file claims to hold is believed up to here; beyond, memory grows with what is really read.
constexpr std::size_t kLargestFirstPiece = std::size_t{64} << 20;
constexpr std::size_t kSmallestPiece = std::size_t{64} << 10;

}  // namespace

bool WholeText::grow(std::size_t capacity) {
  auto* const larger = static_cast<unsigned char*>(std::realloc(memory_.get(), capacity));
  if (larger == nullptr) return false;
  static_cast<void>(memory_.release());
  memory_.reset(larger);
  capacity_ = capacity;
  return true;
}

Result<WholeText> WholeText::read(TextInput& input, const std::string& path) {
  WholeText text;
  // One byte more than the file has, so that its end shows in the first read.
  std::size_t wanted = std::clamp<std::size_t>(input.file_bytes() + 1, kSmallestPiece, kLargestFirstPiece);
  for (;;) {
    if (!text.grow(wanted)) return failure("does not fit into memory", path);
    const std::span<char> room(reinterpret_cast<char*>(text.memory_.get()) + text.size_, text.capacity_ - text.size_);
    const auto got = input.read(room);
    if (!got) return std::unexpected(got.error());
    text.size_ += *got;
    if (*got < room.size()) return text;
    wanted = text.capacity_ * 2;
  }
}

}  // namespace telltale::tell
