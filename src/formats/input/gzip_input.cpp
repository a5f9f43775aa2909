// gzip through ISA-L, which decompresses a stream two to three times as fast as zlib does.
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <climits>

#include "formats/input/compressed_input.h"

namespace telltale {
namespace {

class GzipInput : public CompressedInput {
 public:
  GzipInput(FileBytes file, std::string first_bytes, std::uint64_t max_text_bytes)
      : CompressedInput(std::move(file), std::move(first_bytes), max_text_bytes) {
    start_member();
  }

 protected:
  std::size_t decompress(std::span<char> into) override {
    if (is_between_members_) {
      if (compressed().empty()) return 0;
      if (is_padding(compressed().front())) {
        consume(1);
        return 0;
      }
      start_member();
    }
    const std::size_t room = std::min<std::size_t>(into.size(), INT_MAX);
    state_.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(compressed().data()));
    state_.avail_in = static_cast<std::uint32_t>(compressed().size());
    state_.next_out = reinterpret_cast<std::uint8_t*>(into.data());
    state_.avail_out = static_cast<std::uint32_t>(room);
    const int status = isal_inflate(&state_);
    consume(compressed().size() - state_.avail_in);
    if (status != ISAL_DECOMP_OK) mark_cut();
    if (state_.block_state == ISAL_BLOCK_FINISH) is_between_members_ = true;
    return room - state_.avail_out;
  }

  bool is_at_boundary() const override { return is_between_members_; }

 private:
  // Some writers fill the last disk block with zeros; gzip itself ignores them too.
  static bool is_padding(char byte) { return byte == '\0'; }

  void start_member() {
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_GZIP;
    is_between_members_ = false;
  }

  inflate_state state_{};
  bool is_between_members_ = false;
};

}  // namespace

std::unique_ptr<TextInput> make_gzip_input(FileBytes file, std::string first_bytes, std::uint64_t max_text_bytes) {
  return std::make_unique<GzipInput>(std::move(file), std::move(first_bytes), max_text_bytes);
}

}  // namespace telltale
