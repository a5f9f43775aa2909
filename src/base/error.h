// What went wrong, for whoever must act on it: one sentence, where it happened, and nothing thrown.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

namespace telltale {

struct Error {
  std::string message;                       // a sentence for the user: what, and what to do about it
  std::string file;                          // the file it is about; empty when none is
  std::optional<std::uint64_t> byte_offset;  // where in that file's (decompressed) text
};

// "file: message (at byte n)", the one line that a command prints.
std::string to_string(const Error& error);

template <typename T>
using Result = std::expected<T, Error>;

// An error to return from any function of type Result<T>.
inline std::unexpected<Error> failure(std::string message, std::string file = {},
                                      std::optional<std::uint64_t> byte_offset = {}) {
  return std::unexpected<Error>(Error{std::move(message), std::move(file), byte_offset});
}

}  // namespace telltale
