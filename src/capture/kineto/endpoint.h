// The socket at which processes ask for work: "dynolog" in the folder that KINETO_IPC_SOCKET_DIR names, or the abstract
// name of that word where the variable is not set.
//
// Datagrams; serve() returns at once when there are none. A process waits for its answer for about 90 ms, so that
// serve() is to be called as soon as the descriptor can be read. Not thread-safe.
#pragma once

#include <functional>
#include <string>

#include "base/error.h"
#include "capture/kineto/protocol.h"

namespace telltale::capture {

// Kineto copies the folder's name into an address without looking at its length; longer ones would hurt it.
inline constexpr std::size_t kMaxFolderLength = 50;

class Endpoint {
 public:
  static Result<Endpoint> in_folder(const std::string& folder);
  static Result<Endpoint> with_abstract_name();
  ~Endpoint();
  Endpoint(Endpoint&& other) noexcept;
  Endpoint& operator=(Endpoint&&) = delete;
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  int descriptor() const { return descriptor_; }

  // Answers all that wait. What is no request is passed over.
  void serve(const std::function<std::string(const ConfigurationRequest&)>& answer);

 private:
  Endpoint(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_ = -1;
  std::string path_;  // of the socket's file; empty when it has none
};

}  // namespace telltale::capture
