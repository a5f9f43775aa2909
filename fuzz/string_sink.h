// Keeps what is written to it.
#pragma once

#include <string>
#include <string_view>

#include "formats/output/byte_sink.h"

namespace telltale::fuzzing {

class StringSink : public ByteSink {
 public:
  Result<void> write(std::string_view bytes) override { return bytes_ += bytes, Result<void>(); }
  Result<void> finish() override { return {}; }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace telltale::fuzzing
