// What `telltale record` tells the processes that it starts, as far as it concerns programs that use CUDA without
// PyTorch. Its other side is src/capture/run/attachment.h.
#pragma once

#include <telltale/telltale.h>

#include <cstdint>
#include <optional>
#include <string>

namespace telltale::capture {

struct NativeAttachment {
  std::string path;   // of the file to write; %p stands for the pid
  std::string marks;  // the folder for marks; empty: there is none
  std::optional<telltale_schedule> schedule;
  std::optional<double> seconds;
  std::optional<std::uint64_t> memory_limit;
  bool api = false;  // every call of CUDA's API

  // Whether all that the program does is recorded from here on.
  bool is_from_start() const {
    return !schedule || (schedule->skip_first == 0 && schedule->wait == 0 && schedule->warmup == 0);
  }
};

// From the environment; nothing where this process is not to be recorded so, or has more rights than whoever asks.
std::optional<NativeAttachment> native_attachment();

// From the JSON that stands there; nothing where it is none, or asks for something else.
std::optional<NativeAttachment> parse_native_attachment(const char* text);

}  // namespace telltale::capture
