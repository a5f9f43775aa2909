// Sinks for tests: one that keeps what it gets, and one that fails when it has got enough.
#pragma once

#include <string>

#include "formats/output/byte_sink.h"

namespace telltale {

class MemorySink : public ByteSink {
 public:
  Result<void> write(std::string_view bytes) override {
    text += bytes;
    ++writes;
    return {};
  }
  Result<void> finish() override {
    ++finishes;
    return {};
  }

  std::string text;
  int writes = 0, finishes = 0;
};

// A disk with room for so many bytes.
class FullDisk : public ByteSink {
 public:
  explicit FullDisk(std::size_t room) : room_(room) {}
  Result<void> write(std::string_view bytes) override {
    ++attempts;
    if (bytes.size() > room_) return failure("could not be written: No space left on device", "out.json");
    room_ -= bytes.size();
    return {};
  }
  Result<void> finish() override { return {}; }

  int attempts = 0;

 private:
  std::size_t room_;
};

}  // namespace telltale
