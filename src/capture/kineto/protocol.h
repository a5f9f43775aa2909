// The datagrams between PyTorch's profiler (Kineto) and the daemon that it asks for work, dynolog's or ours.
//
// A datagram is a header of 40 bytes (u64 payload size, 32 bytes of NUL-terminated type) and the payload. Numbers are
// in the machine's own order: both ends run on it. Pure functions; what does not decode is nobody's request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telltale::capture {

// No datagram that a client sends is larger: a request names at most eleven processes.
inline constexpr std::size_t kMaxDatagramBytes = 4096;

struct Message {
  std::string type;
  std::string payload;
};

std::string encoded(const Message& message);
std::optional<Message> decoded_message(std::string_view datagram);

// "Is there something to do?", which a process asks every few seconds.
inline constexpr std::string_view kRequestType = "req";
struct ConfigurationRequest {
  bool can_record = false;         // false while its profiler is busy
  std::int64_t job = 0;            // of a scheduler such as Slurm; 0 when there is none
  std::vector<std::int32_t> pids;  // its own, then its parent's, and so on; never empty
};
std::optional<ConfigurationRequest> decoded_request(std::string_view payload);

// "I exist", with which old versions begin: the pid. The answer is how many such processes there are.
inline constexpr std::string_view kRegistrationType = "ctxt";
std::optional<std::int32_t> decoded_registration(std::string_view payload);
std::string encoded_count(std::int32_t count);

}  // namespace telltale::capture
