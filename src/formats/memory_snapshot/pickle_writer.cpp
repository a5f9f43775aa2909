#include "formats/memory_snapshot/pickle_writer.h"

#include <bit>
#include <cstring>

namespace telltale::memory_snapshot {

template <typename Integer>
void PickleWriter::raw(Integer number) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  out_ << std::string_view(bytes, sizeof bytes);
}

void PickleWriter::text(std::string_view text) {
  constexpr std::uint32_t kNew = UINT32_MAX;
  const StringId known = texts_.intern(text);
  if (known >= text_numbers_.size()) text_numbers_.resize(known + 1, kNew);
  if (text_numbers_[known] != kNew) return again(text_numbers_[known]);
  if (text.size() <= UINT8_MAX) {
    out_ << '\x8c';
    raw(static_cast<std::uint8_t>(text.size()));
  } else {
    out_ << 'X';
    raw(static_cast<std::uint32_t>(text.size()));
  }
  out_ << text;
  text_numbers_[known] = remember();
}

void PickleWriter::integer(std::int64_t number) {
  if (number >= 0 && number <= UINT8_MAX) {
    out_ << 'K';
    raw(static_cast<std::uint8_t>(number));
  } else if (number >= 0 && number <= UINT16_MAX) {
    out_ << 'M';
    raw(static_cast<std::uint16_t>(number));
  } else if (number >= INT32_MIN && number <= INT32_MAX) {
    out_ << 'J';
    raw(static_cast<std::int32_t>(number));
  } else {
    out_ << '\x8a' << '\x08';
    raw(number);
  }
}

void PickleWriter::handle(std::uint64_t number) {
  if (number <= INT64_MAX) return integer(static_cast<std::int64_t>(number));
  out_ << '\x8a' << '\x09';
  raw(number);
  out_ << '\0';
}

void PickleWriter::real(double number) {
  out_ << 'G';
  raw(__builtin_bswap64(std::bit_cast<std::uint64_t>(number)));
}

std::uint32_t PickleWriter::remember() {
  out_ << '\x94';
  return remembered_++;
}

void PickleWriter::again(std::uint32_t number) {
  if (number <= UINT8_MAX) {
    out_ << 'h';
    raw(static_cast<std::uint8_t>(number));
  } else {
    out_ << 'j';
    raw(number);
  }
}

}  // namespace telltale::memory_snapshot
