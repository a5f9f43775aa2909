#include "capture/kineto/endpoint.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace telltale::capture {
namespace {

constexpr std::string_view kName = "dynolog";
constexpr int kMostAtOnce = 256;  // so that a flood does not keep the caller from everything else

struct Address {
  sockaddr_un name{};
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&name); }
};

// `text` with a NUL behind it, which counts.
Address address_of(std::string_view text) {
  Address address;
  address.name.sun_family = AF_UNIX;
  text.copy(address.name.sun_path, text.size());
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + text.size() + 1);
  return address;
}

int datagram_socket() { return socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

bool has_listener(const Address& address) {
  const int probe = datagram_socket();
  const bool is_there = connect(probe, address.get(), address.length) == 0;
  close(probe);
  return is_there;
}

// The socket, or -1 with errno set.
int bound_socket(const Address& address) {
  const int descriptor = datagram_socket();
  if (descriptor < 0 || bind(descriptor, address.get(), address.length) == 0) return descriptor;
  const int reason = errno;
  close(descriptor);
  errno = reason;
  return -1;
}

std::unexpected<Error> why_not_bound(const std::string& where) {
  if (errno == EADDRINUSE)
    return failure("another program (dynolog, or another telltale record) already answers PyTorch's profiler here",
                   where);
  return failure(std::string("the socket could not be opened: ") + std::strerror(errno), where);
}

std::string reply_to(const Message& message, const std::function<std::string(const ConfigurationRequest&)>& answer) {
  if (message.type == kRegistrationType && is_registration(message.payload))
    return encoded({std::string(kRegistrationType), encoded_count(1)});
  if (message.type != kRequestType) return {};
  const auto request = decoded_request(message.payload);
  return request ? encoded({std::string(kRequestType), answer(*request)}) : std::string();
}

}  // namespace

Result<Endpoint> Endpoint::in_folder(const std::string& folder) {
  if (folder.size() > kMaxFolderLength) return failure("the folder's name is too long for a socket", folder);
  const std::string path = folder + "/" + std::string(kName);
  const Address address = address_of(path);
  int descriptor = bound_socket(address);
  if (descriptor < 0 && errno == EADDRINUSE && !has_listener(address)) {
    unlink(path.c_str());  // left behind by one that has gone
    descriptor = bound_socket(address);
  }
  if (descriptor < 0) return why_not_bound(path);
  return Endpoint(descriptor, path);
}

Result<Endpoint> Endpoint::with_abstract_name() {
  std::string name(1, '\0');
  const int descriptor = bound_socket(address_of(name.append(kName)));
  if (descriptor < 0) return why_not_bound("socket @" + std::string(kName));
  return Endpoint(descriptor, {});
}

Endpoint::Endpoint(Endpoint&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::exchange(other.path_, {})) {}

Endpoint::~Endpoint() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  if (!path_.empty()) unlink(path_.c_str());
}

void Endpoint::serve(const std::function<std::string(const ConfigurationRequest&)>& answer) {
  std::array<char, kMaxDatagramBytes> buffer{};
  for (int served = 0; served < kMostAtOnce; ++served) {
    Address sender;
    sender.length = sizeof sender.name;
    const ssize_t size = recvfrom(descriptor_, buffer.data(), buffer.size(), 0, sender.get(), &sender.length);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return;
    const auto message = decoded_message({buffer.data(), static_cast<std::size_t>(size)});
    const std::string reply = message ? reply_to(*message, answer) : std::string();
    // A process that has gone, or does not read, has no use for an answer.
    if (!reply.empty() && sender.length > 0)
      sendto(descriptor_, reply.data(), reply.size(), MSG_NOSIGNAL, sender.get(), sender.length);
  }
}

}  // namespace telltale::capture
