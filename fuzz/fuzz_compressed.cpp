// Any bytes as a compressed file, against zlib and zstd themselves.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "compression.h"
#include "formats/input/text_input.h"
#include "require.h"

namespace {

using telltale::fuzzing::require;

constexpr std::size_t kMostText = 1 << 20;

struct Unpacked {
  std::string text;
  bool was_cut = false;
  bool was_refused = false;
};

Unpacked unpack(std::string_view bytes, std::size_t chunk_bytes) {
  const int descriptor = memfd_create("input", 0);
  require(descriptor >= 0 && write(descriptor, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
          "there is memory for the input");
  Unpacked unpacked;
  {
    auto input = telltale::open_text("/proc/self/fd/" + std::to_string(descriptor), kMostText);
    unpacked.was_refused = !input;
    std::string chunk(chunk_bytes, '\0');
    while (input) {
      const auto got = (*input)->read(chunk);
      unpacked.was_refused = !got;
      if (!got) break;
      unpacked.text.append(chunk, 0, *got);
      require(unpacked.text.size() <= kMostText || !bytes.starts_with("\x1f\x8b"), "the limit is kept");
      if (*got < chunk.size()) {
        unpacked.was_cut = (*input)->was_cut();
        break;
      }
    }
  }
  close(descriptor);
  return unpacked;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Unpacked whole = unpack(bytes, kMostText + 1);
  const Unpacked pieces = unpack(bytes, 1 + size % 100);
  require(whole.was_refused == pieces.was_refused, "whether a file is refused does not depend on how it is read");
  if (whole.was_refused) return 0;
  require(whole.was_cut == pieces.was_cut, "whether a file is damaged does not depend on how it is read");
  // How much of a damaged block of gzip comes out may.
  const bool may_differ = whole.was_cut && bytes.starts_with("\x1f\x8b");
  require(whole.text == pieces.text || (may_differ && pieces.text.starts_with(whole.text)) ||
              (may_differ && whole.text.starts_with(pieces.text)),
          "the text does not depend on how it is read");
  if (bytes.starts_with("\x1f\x8b")) {
    const auto reference = telltale::oracle::whole_gzip_text(bytes, kMostText);
    if (reference) require(whole.text == *reference && !whole.was_cut, "zlib reads the same");
  } else if (bytes.starts_with("\x28\xb5\x2f\xfd")) {
    const auto reference = telltale::oracle::whole_zstd_text(bytes, kMostText);
    if (reference) require(whole.text == *reference && !whole.was_cut, "zstd reads the same");
  } else {
    require(whole.text == bytes && !whole.was_cut, "plain text is what it is");
  }
  return 0;
}
