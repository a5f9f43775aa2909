#include "formats/tell/testing/read_bytes.h"

#include <algorithm>
#include <cstring>

#include "formats/tell/read.h"

namespace telltale::tell::testing {
namespace {

class MemoryInput : public TextInput {
 public:
  explicit MemoryInput(std::string_view bytes) : bytes_(bytes) {}

  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t size = std::min(into.size(), bytes_.size() - used_);
    std::memcpy(into.data(), bytes_.data() + used_, size);
    used_ += size;
    return size;
  }
  std::uint64_t file_bytes_read() const override { return used_; }
  std::uint64_t file_bytes() const override { return bytes_.size(); }

 private:
  std::string_view bytes_;
  std::size_t used_ = 0;
};

}  // namespace

Result<Trace> read_bytes(std::string_view bytes, unsigned threads) {
  MemoryInput input(bytes);
  ReadOptions options;
  options.threads = threads;
  return read(input, "test.tell", options);
}

}  // namespace telltale::tell::testing
