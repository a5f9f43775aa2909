// Text on its way to a sink: pieces are joined in a buffer of fixed size, and the first error is kept for the end.
//
// Used by one thread.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text_encoding.h"
#include "base/time.h"
#include "formats/output/byte_sink.h"

namespace telltale {

// A string with quotation marks and escapes.
struct InJson {
  std::string_view text;
};

// A field, in quotation marks where it needs them.
struct InCsv {
  std::string_view text;
};

// 1234567 ns as 1234.567: always three decimals, always exact.
struct InMicroseconds {
  Nanoseconds time;
};

class TextWriter {
 public:
  explicit TextWriter(ByteSink& sink) : sink_(sink) { buffer_.reserve(kBufferBytes + kBufferBytes / 4); }
  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;

  TextWriter& operator<<(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= kBufferBytes) flush();
    return *this;
  }
  TextWriter& operator<<(const char* text) { return *this << std::string_view(text); }
  TextWriter& operator<<(char c) { return *this << std::string_view(&c, 1); }
  template <std::integral Integer>
  TextWriter& operator<<(Integer number) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    return *this << std::string_view(digits, static_cast<std::size_t>(end - digits));
  }
  // Real numbers as short as they can be without losing anything. They must be finite: nothing else is a number to
  // whoever reads this.
  TextWriter& operator<<(double number) { return real(number); }
  TextWriter& operator<<(float number) { return real(number); }
  TextWriter& operator<<(InJson string) {
    append_json_string(buffer_, string.text);
    return *this << std::string_view();
  }
  TextWriter& operator<<(InCsv field) {
    append_csv_field(buffer_, field.text);
    return *this << std::string_view();
  }
  TextWriter& operator<<(InMicroseconds microseconds);

  // Something could not be written: whatever follows is thrown away.
  bool has_failed() const { return error_.has_value(); }

  // Hands over what is held back.
  void flush();

  // Writes what is left and finishes the sink. Must be called once, at the end.
  Result<void> finish();

 private:
  static constexpr std::size_t kBufferBytes = 1 << 18;

  template <typename Real>
  TextWriter& real(Real number) {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    return *this << std::string_view(digits, static_cast<std::size_t>(end - digits));
  }

  ByteSink& sink_;
  std::string buffer_;
  std::optional<Error> error_;
};

}  // namespace telltale
