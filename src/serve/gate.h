// Who may ask: whoever has the address that was printed, in a browser that shows our own page. docs/security.md says
// what is promised.
//
// The token of the address is exchanged for a cookie, so that it stands in no history for long and other pages cannot
// send it along. Used by one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "serve/reply.h"
#include "serve/request_head.h"

namespace telltale::serve {

class Gate {
 public:
  struct Secrets {
    std::string token;         // of the address that is printed
    std::string launch_token;  // of the one that the browser is started with: other users see it, so it counts once
    std::string cookie;
  };
  Gate(std::uint16_t port, Secrets secrets) : port_(port), secrets_(std::move(secrets)) {}

  std::string address() const;         // what the user opens
  std::string launch_address() const;  // the same for a program that is started with it, once

  // What to answer instead of what was asked for: a refusal, or the redirect that brings the cookie. Nothing where the
  // request may pass.
  std::optional<Reply> stop(const RequestHead& head);

 private:
  std::optional<Reply> stop_strangers(const RequestHead& head) const;
  bool has_cookie(const RequestHead& head) const;
  bool takes_token(std::string_view token);
  std::string address_with(std::string_view token) const;

  std::uint16_t port_;
  Secrets secrets_;
  bool is_launched_ = false;
};

}  // namespace telltale::serve
