// The socket at which processes ask for work: "dynolog" in the folder that KINETO_IPC_SOCKET_DIR names, or the abstract
// name of that word where the variable is not set.
//
// Datagrams; serve() returns at once when there are none. A process waits for its answer for about 90 ms, so that
// serve() is to be called as soon as the descriptor can be read. Not thread-safe.
//
// Any process of the machine can send to the abstract name, and the folder may be another user's. So the kernel says
// who sends: only the process that a request names, of the user that we serve, is answered, and of all files only a
// socket of ours is ever removed.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "base/error.h"
#include "capture/kineto/protocol.h"

namespace telltale::capture {

// Kineto copies the folder's name into an address without looking at its length; longer ones would hurt it.
inline constexpr std::size_t kMaxFolderLength = 50;

class Endpoint {
 public:
  // `user` is whose processes are served.
  static Result<Endpoint> in_folder(const std::string& folder, uid_t user);
  static Result<Endpoint> with_abstract_name(uid_t user);
  ~Endpoint();
  Endpoint(Endpoint&& other) noexcept;
  Endpoint& operator=(Endpoint&&) = delete;
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  int descriptor() const { return descriptor_; }

  // What to answer; `sender` is the pid of who asks, which in a container may call itself by another number.
  using Answer = std::function<std::string(const ConfigurationRequest& request, int sender)>;
  // Answers all that wait. What is no request, or comes from another process than it says, is passed over.
  void serve(const Answer& answer);

 private:
  Endpoint(int descriptor, uid_t user) : descriptor_(descriptor), user_(user) {}

  int descriptor_ = -1;
  uid_t user_ = 0;
  int folder_ = -1;   // with the socket's file; -1 where it has none
  ino_t socket_ = 0;  // that file
};

}  // namespace telltale::capture
