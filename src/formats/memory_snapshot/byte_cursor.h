// A place in a stream of bytes: what lies behind it is at hand as far as asked for, and no more of the stream is kept.
//
// Used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "formats/input/text_input.h"

namespace telltale::memory_snapshot {

class ByteCursor {
 public:
  // `path` is what errors call the stream.
  ByteCursor(TextInput& input, std::string path, std::size_t block_bytes)
      : input_(input), path_(std::move(path)), block_bytes_(block_bytes) {}

  // Whether so many bytes follow; they are then at peek().
  bool has(std::size_t bytes) { return static_cast<std::size_t>(end_ - at_) >= bytes || fetch(bytes); }
  const char* peek() const { return at_; }
  // All that is at hand already.
  std::string_view at_hand() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }
  void skip(std::size_t bytes) { at_ += bytes; }

  // Little-endian, as pickles have numbers; only where has() is true.
  template <typename Integer>
  Integer take() {
    Integer value;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string_view take_bytes(std::size_t bytes) {
    at_ += bytes;
    return {at_ - bytes, bytes};
  }
  // Up to the next line break, which is skipped; nothing when the stream ends before it.
  std::optional<std::string_view> take_line();

  std::uint64_t offset() const { return fetched_ - static_cast<std::uint64_t>(end_ - at_); }
  // Why there is no more, where that is not the end of the stream.
  const std::optional<Error>& error() const { return error_; }

 private:
  bool fetch(std::size_t bytes);

  TextInput& input_;
  std::string path_;
  std::size_t block_bytes_;
  std::vector<char> buffer_;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  std::uint64_t fetched_ = 0;
  bool has_ended_ = false;
  std::optional<Error> error_;
};

}  // namespace telltale::memory_snapshot
