// The server: speaks HTTP with browsers of this machine. What is said is up to its caller.
//
// Sockets belong to one thread, the one in run(). Answers that take a while are made by others, slow ones by others
// again, so that none holds up what is quick.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "serve/handling.h"
#include "serve/request_head.h"

namespace telltale::serve {

class Server {
 public:
  // Listens at 127.0.0.1; port 0 is any free one.
  static Result<Server> listen(std::uint16_t port);
  Server(Server&&) noexcept;
  ~Server();  // waits for answers that are being made

  std::uint16_t port() const;

  // A request comes in. Called by the thread in run() alone.
  using Receive = std::function<Handling(const RequestHead& head)>;

  // Answers until SIGINT, SIGTERM or SIGHUP comes (those that were ignored before stay so), or until `goes_on`, which
  // is asked several times a second, says no. By then nobody is connected, and the port is free.
  void run(const Receive& receive, const std::function<bool()>& goes_on);

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

// The request that the server sees in bytes that arrive, or the status with which it refuses them; 0: it waits for
// more, or gives up.
std::expected<RequestHead, unsigned> read_head(std::string_view bytes);

}  // namespace telltale::serve
