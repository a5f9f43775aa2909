// All bytes of an input in memory.
#pragma once

#include <cstdlib>
#include <memory>
#include <span>

#include "base/error.h"
#include "formats/input/text_input.h"

namespace telltale::tell {

using Bytes = std::span<const unsigned char>;

// Owns the bytes; move-only.
class WholeText {
 public:
  // A file that grows meanwhile is read as far as it reaches at some moment after the call.
  static Result<WholeText> read(TextInput& input, const std::string& path);

  Bytes bytes() const { return {memory_.get(), size_}; }

 private:
  struct Free {
    void operator()(unsigned char* memory) const { std::free(memory); }
  };
  bool grow(std::size_t capacity);

  std::unique_ptr<unsigned char, Free> memory_;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
};

}  // namespace telltale::tell
