// Writes a pickle of protocol 4: the operations that data needs. Texts that occur again are written once.
//
// Used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/interned_strings.h"
#include "formats/output/text_writer.h"

namespace telltale::memory_snapshot {

class PickleWriter {
 public:
  explicit PickleWriter(TextWriter& out) : out_(out) { out_ << std::string_view("\x80\x04"); }

  void text(std::string_view text);
  void integer(std::int64_t number);
  void handle(std::uint64_t number);  // of 64 bits without sign
  void real(double number);
  void truth(bool value) { out_ << (value ? '\x88' : '\x89'); }
  void none() { out_ << 'N'; }

  // A list or dict, then its items, then its end.
  void open_list() { out_ << "]("; }
  void close_list() { out_ << 'e'; }
  void open_dict() { out_ << "}("; }
  void close_dict() { out_ << 'u'; }
  void end_pair() { out_ << '\x86'; }  // makes a tuple of the last two values

  // Remembers the last value; again() is the same value once more.
  std::uint32_t remember();
  void again(std::uint32_t number);

  void end() { out_ << '.'; }

 private:
  template <typename Integer>
  void raw(Integer number);

  TextWriter& out_;
  InternedStrings texts_;
  std::vector<std::uint32_t> text_numbers_;  // in the memo, by text
  std::uint32_t remembered_ = 0;
};

}  // namespace telltale::memory_snapshot
