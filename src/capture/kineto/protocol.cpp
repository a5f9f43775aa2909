#include "capture/kineto/protocol.h"

#include <cstring>

namespace telltale::capture {
namespace {

constexpr std::size_t kTypeBytes = 32;
constexpr std::size_t kHeaderBytes = sizeof(std::uint64_t) + kTypeBytes;
constexpr std::size_t kFixedRequestBytes = 16;  // kinds, number of pids, job
constexpr std::size_t kRegistrationBytes = 16;  // device, pid, job
constexpr std::int32_t kActivities = 2;         // in the bit mask of what a process can take

template <typename T>
T number_at(std::string_view bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <typename T>
void append_number(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

std::string encoded(const Message& message) {
  std::string datagram;
  append_number<std::uint64_t>(datagram, message.payload.size());
  datagram.append(message.type.substr(0, kTypeBytes - 1)).resize(kHeaderBytes);
  return datagram + message.payload;
}

std::optional<Message> decoded_message(std::string_view datagram) {
  if (datagram.size() < kHeaderBytes) return std::nullopt;
  if (number_at<std::uint64_t>(datagram, 0) != datagram.size() - kHeaderBytes) return std::nullopt;
  const std::string_view type = datagram.substr(sizeof(std::uint64_t), kTypeBytes);
  const std::size_t end = type.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  return Message{std::string(type.substr(0, end)), std::string(datagram.substr(kHeaderBytes))};
}

std::optional<ConfigurationRequest> decoded_request(std::string_view payload) {
  if (payload.size() < kFixedRequestBytes) return std::nullopt;
  const auto count = number_at<std::int32_t>(payload, 4);
  const std::size_t pid_bytes = payload.size() - kFixedRequestBytes;
  if (count < 1 || pid_bytes != static_cast<std::size_t>(count) * sizeof(std::int32_t)) return std::nullopt;

  ConfigurationRequest request;
  request.can_record = (number_at<std::int32_t>(payload, 0) & kActivities) != 0;
  request.job = number_at<std::int64_t>(payload, 8);
  for (std::size_t at = kFixedRequestBytes; at < payload.size(); at += sizeof(std::int32_t))
    request.pids.push_back(number_at<std::int32_t>(payload, at));
  if (request.pids.front() <= 0) return std::nullopt;
  return request;
}

std::optional<std::int32_t> decoded_registration(std::string_view payload) {
  if (payload.size() != kRegistrationBytes) return std::nullopt;
  return number_at<std::int32_t>(payload, 4);
}

std::string encoded_count(std::int32_t count) {
  std::string payload;
  append_number(payload, count);
  return payload;
}

}  // namespace telltale::capture
