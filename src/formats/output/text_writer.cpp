#include "formats/output/text_writer.h"

namespace telltale {

TextWriter& TextWriter::operator<<(InMicroseconds microseconds) {
  const Nanoseconds time = microseconds.time;
  constexpr std::uint64_t kNanosecondsEach = 1000;
  const std::uint64_t magnitude = time < 0 ? -static_cast<std::uint64_t>(time) : static_cast<std::uint64_t>(time);
  const auto rest = static_cast<unsigned>(magnitude % kNanosecondsEach);
  const char decimals[] = {'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
                           static_cast<char>('0' + rest % 10)};
  if (time < 0) *this << '-';
  return *this << magnitude / kNanosecondsEach << std::string_view(decimals, sizeof decimals);
}

void TextWriter::flush() {
  if (!error_) {
    if (const auto written = sink_.write(buffer_); !written) error_ = written.error();
  }
  buffer_.clear();
}

Result<void> TextWriter::finish() {
  flush();
  if (error_) return std::unexpected(*error_);
  return sink_.finish();
}

}  // namespace telltale
