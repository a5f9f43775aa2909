#include "capture/kineto/endpoint.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

namespace telltale::capture {
namespace {

constexpr const char* kName = "dynolog";
constexpr const char* kIsAnswered =
    "another program (dynolog, or another telltale record) already answers PyTorch's profiler here";
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

// The socket, or -1 with errno set. The kernel tells who sends to it from the first datagram on.
int bound_socket(const Address& address) {
  const int descriptor = datagram_socket();
  const int yes = 1;
  if (descriptor >= 0 && setsockopt(descriptor, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) == 0 &&
      bind(descriptor, address.get(), address.length) == 0)
    return descriptor;
  const int reason = errno;
  if (descriptor >= 0) close(descriptor);
  errno = reason;
  return -1;
}

// The number of a file, where it is a socket of this user's.
std::optional<ino_t> own_socket_in(int folder) {
  struct stat status{};
  if (fstatat(folder, kName, &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  if (!S_ISSOCK(status.st_mode) || status.st_uid != geteuid()) return std::nullopt;
  return status.st_ino;
}

std::unexpected<Error> why_not_bound(const std::string& where) {
  if (errno == EADDRINUSE) return failure(kIsAnswered, where);
  return failure(std::string("the socket could not be opened: ") + std::strerror(errno), where);
}

// Whether `sender`, a pid as we see it, calls itself `claimed`: that is another number where it has a namespace of its
// own, as in a container.
bool is_called(int sender, int claimed) {
  if (sender == claimed) return true;
  std::ifstream status("/proc/" + std::to_string(sender) + "/status");
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key != "NSpid:") continue;
    for (int pid = 0; words >> pid;)
      if (pid == claimed) return true;
  }
  return false;
}

struct Datagram {
  std::array<char, kMaxDatagramBytes> bytes;
  ssize_t size = -1;  // −1: there is none
  Address from;
  ucred sender{};  // pid 0: not one that we can see

  std::string_view text() const { return {bytes.data(), static_cast<std::size_t>(size)}; }
};

void receive(int descriptor, Datagram& datagram) {
  // Room for the sender, and for no descriptor that somebody might send along.
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control{};
  iovec part{datagram.bytes.data(), datagram.bytes.size()};
  msghdr header{};
  header.msg_name = &datagram.from.name;
  header.msg_namelen = sizeof datagram.from.name;
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  do {
    datagram.size = recvmsg(descriptor, &header, MSG_CMSG_CLOEXEC);
  } while (datagram.size < 0 && errno == EINTR);
  datagram.from.length = header.msg_namelen;
  datagram.sender = {};
  if (datagram.size < 0) return;
  for (cmsghdr* each = CMSG_FIRSTHDR(&header); each != nullptr; each = CMSG_NXTHDR(&header, each))
    if (each->cmsg_level == SOL_SOCKET && each->cmsg_type == SCM_CREDENTIALS)
      std::memcpy(&datagram.sender, CMSG_DATA(each), sizeof datagram.sender);
}

std::string reply_to(const Message& message, int sender, const Endpoint::Answer& answer) {
  if (message.type == kRegistrationType) {
    const auto pid = decoded_registration(message.payload);
    return pid && is_called(sender, *pid) ? encoded({message.type, encoded_count(1)}) : std::string();
  }
  if (message.type != kRequestType) return {};
  const auto request = decoded_request(message.payload);
  if (!request || !is_called(sender, request->pids.front())) return {};
  return encoded({message.type, answer(*request, sender)});
}

}  // namespace

Result<Endpoint> Endpoint::in_folder(const std::string& folder, uid_t user) {
  if (folder.size() > kMaxFolderLength) return failure("the folder's name is too long for a socket", folder);
  const std::string path = folder + "/" + kName;
  const Address address = address_of(path);
  Endpoint endpoint(-1, user);
  // All that is looked at and removed is in this very folder, whatever its name leads to meanwhile.
  endpoint.folder_ = open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (endpoint.folder_ < 0) return why_not_bound(path);
  endpoint.descriptor_ = bound_socket(address);
  if (endpoint.descriptor_ < 0 && errno == EADDRINUSE) {
    if (!own_socket_in(endpoint.folder_))
      return failure("is there already and is not a socket of yours; move it away, or let its owner record", path);
    if (has_listener(address)) return failure(kIsAnswered, path);
    unlinkat(endpoint.folder_, kName, 0);  // left behind by one that has gone
    endpoint.descriptor_ = bound_socket(address);
  }
  if (endpoint.descriptor_ < 0) return why_not_bound(path);
  const auto socket = own_socket_in(endpoint.folder_);
  if (!socket) return failure("the folder has been replaced by another one", folder);
  endpoint.socket_ = *socket;
  return endpoint;
}

Result<Endpoint> Endpoint::with_abstract_name(uid_t user) {
  std::string name(1, '\0');
  const int descriptor = bound_socket(address_of(name.append(kName)));
  if (descriptor < 0) return why_not_bound("socket @" + std::string(kName));
  return Endpoint(descriptor, user);
}

Endpoint::Endpoint(Endpoint&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      user_(other.user_),
      folder_(std::exchange(other.folder_, -1)),
      socket_(other.socket_) {}

Endpoint::~Endpoint() {
  if (descriptor_ >= 0) close(descriptor_);
  if (folder_ < 0) return;
  if (own_socket_in(folder_) == socket_) unlinkat(folder_, kName, 0);
  close(folder_);
}

void Endpoint::serve(const Answer& answer) {
  Datagram datagram;
  for (int served = 0; served < kMostAtOnce; ++served) {
    receive(descriptor_, datagram);
    if (datagram.size < 0) return;
    if (datagram.sender.pid <= 0 || datagram.sender.uid != user_) continue;
    const auto message = decoded_message(datagram.text());
    const std::string reply = message ? reply_to(*message, datagram.sender.pid, answer) : std::string();
    // A process that has gone, or does not read, has no use for an answer.
    if (!reply.empty() && datagram.from.length > 0)
      sendto(descriptor_, reply.data(), reply.size(), MSG_NOSIGNAL, datagram.from.get(), datagram.from.length);
  }
}

}  // namespace telltale::capture
