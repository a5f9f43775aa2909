#include "formats/memory_snapshot/byte_cursor.h"

#include <algorithm>
#include <span>

namespace telltale::memory_snapshot {

namespace {
constexpr std::size_t kLongest = std::size_t{256} << 20;
}  // namespace

// The buffer grows with what has really come, whatever length a file claims.
bool ByteCursor::fetch(std::size_t bytes) {
  if (bytes > kLongest) {
    if (!error_) error_ = Error{"holds a text of more than 256 MiB, as no memory snapshot does", path_, offset()};
    return false;
  }
  while (static_cast<std::size_t>(end_ - at_) < bytes) {
    if (has_ended_) return false;
    const auto kept = static_cast<std::size_t>(end_ - at_);
    if (kept > 0) std::memmove(buffer_.data(), at_, kept);
    const std::size_t wanted = std::max(2 * kept, block_bytes_);
    if (buffer_.size() < wanted) buffer_.resize(wanted);
    const std::size_t room = buffer_.size() - kept;
    const auto got = input_.read(std::span(buffer_).subspan(kept));
    if (!got) error_ = got.error();
    const std::size_t count = got.value_or(0);
    has_ended_ = count < room;
    fetched_ += count;
    at_ = buffer_.data();
    end_ = at_ + kept + count;
  }
  return true;
}

std::optional<std::string_view> ByteCursor::take_line() {
  for (std::size_t looked_at = 0;;) {
    const auto known = static_cast<std::size_t>(end_ - at_);
    if (looked_at < known) {
      const void* found = std::memchr(at_ + looked_at, '\n', known - looked_at);
      if (found != nullptr) {
        const std::string_view line(at_, static_cast<std::size_t>(static_cast<const char*>(found) - at_));
        at_ += line.size() + 1;
        return line;
      }
    }
    looked_at = known;
    if (!has(known + 1)) return std::nullopt;
  }
}

}  // namespace telltale::memory_snapshot
