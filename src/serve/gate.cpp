#include "serve/gate.h"

#include <fmt/format.h>

#include "serve/secret.h"

namespace telltale::serve {
namespace {

constexpr std::uint16_t kUsualPort = 80;  // which browsers do not say

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string Gate::address_with(std::string_view token) const {
  return fmt::format("http://127.0.0.1:{}/?token={}", port_, token);
}
std::string Gate::address() const { return address_with(secrets_.token); }
std::string Gate::launch_address() const { return address_with(secrets_.launch_token); }

// Programs of this machine may send what they like. A browser says truthfully for whom it asks, and by which name it
// has found us: a name that somebody else's server answers for is another site, whatever address it has by now.
std::optional<Reply> Gate::stop_strangers(const RequestHead& head) const {
  const auto hosts = head.values("host");
  const std::string port = port_ == kUsualPort ? "" : fmt::format(":{}", port_);
  if (hosts.size() != 1 || (hosts[0] != "127.0.0.1" + port && hosts[0] != "localhost" + port))
    return refusal(head.path(), 403,
                   fmt::format("This page answers at http://127.0.0.1{} alone; forward the same port.", port));
  for (const std::string_view origin : head.values("origin"))
    if (origin != fmt::format("http://{}", hosts[0])) return refusal(head.path(), 403, "Other pages may not ask here.");
  for (const std::string_view site : head.values("sec-fetch-site"))
    if (site != "same-origin" && site != "none")
      return refusal(head.path(), 403, "Other pages may not ask here. Copy the address into a tab of its own.");
  return std::nullopt;
}

// Cookies belong to 127.0.0.1 with all its ports, so that another server may have set one of our name beside ours.
bool Gate::has_cookie(const RequestHead& head) const {
  const std::string start = fmt::format("telltale_{}=", port_);
  for (std::string_view rest : head.values("cookie")) {
    while (!rest.empty()) {
      const std::string_view cookie = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(cookie.size() + 1, rest.size()));
      const std::string_view pair = trimmed(cookie);
      if (pair.starts_with(start) && is_same_secret(pair.substr(start.size()), secrets_.cookie)) return true;
    }
  }
  return false;
}

bool Gate::takes_token(std::string_view token) {
  if (is_same_secret(token, secrets_.token)) return true;
  if (is_launched_ || !is_same_secret(token, secrets_.launch_token)) return false;
  is_launched_ = true;
  return true;
}

std::optional<Reply> Gate::stop(const RequestHead& head) {
  if (auto refused = stop_strangers(head)) return refused;
  if (head.method != "GET" && head.method != "HEAD") {
    Reply refused = refusal(head.path(), 405, "Only GET and HEAD are answered here.");
    refused.fields.emplace_back("Allow", "GET, HEAD");
    return refused;
  }
  constexpr std::string_view kToken = "token=";
  if (head.path() == "/" && head.query().starts_with(kToken) && takes_token(head.query().substr(kToken.size()))) {
    Reply redirect{.status = 303, .type = kPlainText, .body = ""};
    redirect.fields.emplace_back("Location", "/");
    redirect.fields.emplace_back(
        "Set-Cookie", fmt::format("telltale_{}={}; HttpOnly; SameSite=Strict; Path=/", port_, secrets_.cookie));
    return redirect;
  }
  if (!has_cookie(head))
    return refusal(head.path(), 403,
                   "Open the address that telltale view has printed, with all that stands behind its '?'.");
  return std::nullopt;
}

}  // namespace telltale::serve
