// What the decompressors share: a window of compressed bytes, and the limit on what comes out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "formats/input/file_bytes.h"
#include "formats/input/text_input.h"

namespace telltale {

class CompressedInput : public TextInput {
 public:
  bool was_cut() const override { return was_cut_; }
  std::uint64_t file_bytes_read() const override { return file_.bytes_read(); }
  std::uint64_t file_bytes() const override { return file_.size(); }

  Result<std::size_t> read(std::span<char> into) final;

 protected:
  CompressedInput(FileBytes file, std::string first_bytes, std::uint64_t max_text_bytes);

  // Decompresses from `compressed()` into `into`, takes what it used with consume(), and returns the bytes written;
  // 0 with input left over means that the stream is damaged or over.
  virtual std::size_t decompress(std::span<char> into) = 0;
  // Whether the input may end here: between two members or frames.
  virtual bool is_at_boundary() const = 0;

  std::span<const char> compressed() const { return std::span(window_).subspan(window_used_); }
  void consume(std::size_t bytes) { window_used_ += bytes; }
  void mark_cut() { was_cut_ = true; }

 private:
  Result<bool> refill();

  FileBytes file_;
  std::vector<char> window_;
  std::size_t window_used_ = 0;
  std::uint64_t text_bytes_ = 0;
  std::uint64_t max_text_bytes_;
  bool was_cut_ = false;
  bool may_hold_text_ = false;  // the decompressor filled all the room it had, so it may have more without input
};

std::unique_ptr<TextInput> make_gzip_input(FileBytes file, std::string first_bytes, std::uint64_t max_text_bytes);
std::unique_ptr<TextInput> make_zstd_input(FileBytes file, std::string first_bytes, std::uint64_t max_text_bytes);

}  // namespace telltale
