// Requests of any bytes: without the cookie nothing is given away, and with it every question gets an answer or a
// sentence.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "json_pieces.h"
#include "read_text.h"
#include "require.h"
#include "serve/desk.h"
#include "serve/gate.h"
#include "serve/opened_trace.h"
#include "serve/server.h"
#include "trace_from_bytes.h"

namespace {

using telltale::fuzzing::require;
namespace serve = telltale::serve;
namespace oracle = telltale::oracle;

constexpr std::string_view kHost = "127.0.0.1:8123", kCookie = "telltale_8123=cookie";

// A trace with a bit of everything.
telltale::answers::Source odd_trace() {
  std::vector<std::uint8_t> bytes(2000);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(bytes[i] * 37 + i / 256 * 11);
  auto trace = telltale::fuzzing::trace_in(telltale::fuzzing::trace_from_bytes(bytes));
  require(trace.has_value(), "the trace that is asked can be read");
  return {.path = "odd.json", .trace = std::make_shared<const telltale::Trace>(*std::move(trace))};
}

struct Served {
  serve::Gate gate{8123, {.token = "token", .launch_token = "launch", .cookie = "cookie"}};
  serve::OpenedTrace trace{serve::Opening{.source = odd_trace()}};
  serve::Desk desk{gate, trace, {.version = "0"}};

  Served() {
    while (!trace.state().has_diagnosis) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
};

serve::Reply answer(serve::Desk& desk, const serve::RequestHead& head) {
  serve::Handling handling = desk.receive(head);
  return handling.reply ? *std::move(handling.reply) : handling.later();
}

void check_stranger(serve::Desk& desk, const serve::RequestHead& head) {
  const serve::Reply reply = answer(desk, head);
  const bool has_host = head.values("host") == std::vector{kHost} ||
                        head.values("host") == std::vector<std::string_view>{"localhost:8123"};
  bool has_cookie = false;
  for (const std::string_view cookie : head.values("cookie"))
    has_cookie |= cookie.find(kCookie) != std::string_view::npos;
  const bool has_token = head.target.starts_with("/?token=");
  require(reply.status >= 400 || (has_host && (has_cookie || has_token)), "who has no cookie is refused");
}

void check_friend(serve::Desk& desk, std::string_view target) {
  const serve::Reply reply = answer(desk, {.method = "GET",
                                           .target = std::string(target),
                                           .fields = {{"host", std::string(kHost)}, {"cookie", std::string(kCookie)}}});
  require(reply.status == 200 || reply.status == 303 || reply.status == 400 || reply.status == 404,
          "an answer is there or is refused, not " + std::to_string(reply.status) + ": " + reply.body);
  if (reply.type == serve::kJson) require(oracle::is_valid_json(reply.body), "JSON is JSON");
  if (target.starts_with("/api/")) require(!reply.type.starts_with("text/html"), "no answer is a page");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static Served served;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  if (const auto head = serve::read_head(text)) {
    check_stranger(served.desk, *head);
    check_friend(served.desk, head->target);
  }
  check_friend(served.desk, "/api/" + std::string(text.substr(0, 1000)));
  return 0;
}
