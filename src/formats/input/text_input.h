// The decompressed text of a file or of standard input, as a stream: the compression is recognized by its first
// bytes, not by the file's name.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"

namespace telltale {

// Used by one thread at a time.
class TextInput {
 public:
  virtual ~TextInput() = default;

  // Fills `into` as far as the text reaches; fewer bytes than asked for mean that the text has ended.
  virtual Result<std::size_t> read(std::span<char> into) = 0;

  // After the end: the compressed stream broke off or was damaged, and what was read is only its beginning.
  virtual bool was_cut() const { return false; }
  // Bytes of the file itself that have been read so far.
  virtual std::uint64_t file_bytes_read() const = 0;
  // Bytes of the file itself, 0 when unknown (a pipe).
  virtual std::uint64_t file_bytes() const = 0;
};

// `path` may be "-" for standard input. Text beyond `max_text_bytes` out of a compressed file is an error.
Result<std::unique_ptr<TextInput>> open_text(const std::string& path, std::uint64_t max_text_bytes);

// The same text once more from the beginning, after `first_bytes` of it were read to see what it is.
std::unique_ptr<TextInput> put_back(std::string first_bytes, std::unique_ptr<TextInput> rest);

// The same text until `stop`, which must outlive it, is true; from then on an error.
std::unique_ptr<TextInput> stoppable(std::unique_ptr<TextInput> input, const std::atomic<bool>& stop);

}  // namespace telltale
