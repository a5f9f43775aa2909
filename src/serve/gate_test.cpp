#include "serve/gate.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace telltale::serve {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

class GateTest : public testing::Test {
 protected:
  Gate gate{8123, {.token = "open", .launch_token = "once", .cookie = "crumb"}};

  // 200 where the request may pass.
  unsigned status(const std::string& target, Fields fields, const std::string& method = "GET") {
    const auto stopped = gate.stop({.method = method, .target = target, .fields = std::move(fields)});
    return stopped ? stopped->status : 200;
  }
  static Fields ours(Fields more = {}) {
    Fields fields = {{"host", "127.0.0.1:8123"}, {"cookie", "telltale_8123=crumb"}};
    fields.insert(fields.end(), more.begin(), more.end());
    return fields;
  }
};

TEST_F(GateTest, lets_the_page_ask) {
  EXPECT_EQ(status("/", ours()), 200U);
  EXPECT_EQ(status("/api/state", ours({{"origin", "http://127.0.0.1:8123"}, {"sec-fetch-site", "same-origin"}})), 200U);
  EXPECT_EQ(status("/", ours({{"sec-fetch-site", "none"}})), 200U);
  EXPECT_EQ(status("/", {{"host", "localhost:8123"}, {"cookie", "telltale_8123=crumb"}}), 200U);
  EXPECT_EQ(status("/page.js", ours(), "HEAD"), 200U);
}

TEST_F(GateTest, exchanges_the_token_for_a_cookie) {
  const auto reply = gate.stop({.method = "GET", .target = "/?token=open", .fields = {{"host", "127.0.0.1:8123"}}});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 303U);
  const decltype(Reply::fields) expected = {{"Location", "/"},
                                            {"Set-Cookie", "telltale_8123=crumb; HttpOnly; SameSite=Strict; Path=/"}};
  EXPECT_EQ(reply->fields, expected);
  EXPECT_EQ(status("/?token=open", {{"host", "127.0.0.1:8123"}}), 303U) << "another browser may come later";
}

TEST_F(GateTest, takes_the_token_of_the_browser_that_it_starts_once) {
  EXPECT_EQ(gate.launch_address(), "http://127.0.0.1:8123/?token=once");
  EXPECT_EQ(status("/?token=once", {{"host", "127.0.0.1:8123"}}), 303U);
  EXPECT_EQ(status("/?token=once", {{"host", "127.0.0.1:8123"}}), 403U);
}

TEST_F(GateTest, refuses_other_tokens) {
  for (const char* target :
       {"/", "/?token=", "/?token=ope", "/?token=open1", "/?token=OPEN", "/?x=1&token=open", "/?token=open&x=1",
        "/?token=%6fpen", "/page.js?token=open", "//?token=open", "/?token=crumb", "/?token=once1"})
    EXPECT_EQ(status(target, {{"host", "127.0.0.1:8123"}}), 403U) << target;
}

TEST_F(GateTest, refuses_other_cookies) {
  for (const char* cookie : {"", "telltale_8123", "telltale_8123=", "telltale_8123=crum", "telltale_8123=crumbs",
                             "telltale_8124=crumb", "xtelltale_8123=crumb", "telltale_8123=open", "=crumb", ";;;"})
    EXPECT_EQ(status("/", {{"host", "127.0.0.1:8123"}, {"cookie", cookie}}), 403U) << cookie;
}

TEST_F(GateTest, finds_its_cookie_among_those_of_other_servers) {
  for (const char* cookie : {"a=b; telltale_8123=crumb", "telltale_8123=crumb;a=b",
                             "telltale_8124=x; telltale_8123=crumb", "telltale_8123=theirs; telltale_8123=crumb"})
    EXPECT_EQ(status("/", {{"host", "127.0.0.1:8123"}, {"cookie", cookie}}), 200U) << cookie;
}

TEST_F(GateTest, refuses_other_names_of_this_machine_even_with_cookie_or_token) {
  for (const char* host : {"evil.example:8123", "127.0.0.1", "127.0.0.1:8124", "127.0.0.1:08123", "localhost", "",
                           "LOCALHOST:8123", "127.0.0.1:8123.evil.example", "evil.example@127.0.0.1:8123",
                           "0.0.0.0:8123", "[::1]:8123", "127.1:8123", "localhost.:8123"}) {
    EXPECT_EQ(status("/", {{"host", host}, {"cookie", "telltale_8123=crumb"}}), 403U) << host;
    EXPECT_EQ(status("/?token=open", {{"host", host}}), 403U) << host;
  }
  EXPECT_EQ(status("/", {{"cookie", "telltale_8123=crumb"}}), 403U) << "no Host at all";
  EXPECT_EQ(status("/", ours({{"host", "127.0.0.1:8123"}})), 403U) << "two of them";
}

TEST(Gate, at_the_usual_port_is_named_without_it) {
  Gate gate(80, {.token = "open", .launch_token = "once", .cookie = "crumb"});
  const auto passes = [&gate](const char* host, const char* origin) {
    return !gate.stop({.method = "GET",
                       .target = "/",
                       .fields = {{"host", host}, {"origin", origin}, {"cookie", "telltale_80=crumb"}}});
  };
  EXPECT_TRUE(passes("127.0.0.1", "http://127.0.0.1"));
  EXPECT_FALSE(passes("127.0.0.1", "http://127.0.0.1:8123"));
  EXPECT_FALSE(passes("127.0.0.1:8123", "http://127.0.0.1:8123"));
}

TEST_F(GateTest, refuses_what_other_pages_ask) {
  for (const char* origin : {"http://evil.example", "null", "", "https://127.0.0.1:8123", "http://127.0.0.1:9999",
                             "http://127.0.0.1", "http://localhost:8123", "http://127.0.0.1:8123/"})
    EXPECT_EQ(status("/api/state", ours({{"origin", origin}})), 403U) << origin;
  for (const char* site : {"cross-site", "same-site", "", "SAME-ORIGIN", "other"})
    EXPECT_EQ(status("/api/state", ours({{"sec-fetch-site", site}})), 403U) << site;
  EXPECT_EQ(status("/", ours({{"origin", "http://127.0.0.1:8123"}, {"origin", "http://evil.example"}})), 403U);
}

TEST_F(GateTest, answers_nothing_but_get_and_head) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", "PROPFIND"}) {
    EXPECT_EQ(status("/", ours(), method), 405U) << method;
    EXPECT_EQ(status("/?token=open", ours(), method), 405U) << method;
  }
}

TEST_F(GateTest, says_why_as_json_where_the_page_asks) {
  const auto asked = gate.stop({.method = "GET", .target = "/api/state", .fields = {{"host", "127.0.0.1:8123"}}});
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->type, kJson);
  EXPECT_TRUE(asked->body.starts_with(R"({"error":"Open the address)")) << asked->body;
  const auto looked = gate.stop({.method = "GET", .target = "/", .fields = {{"host", "127.0.0.1:8123"}}});
  ASSERT_TRUE(looked);
  EXPECT_EQ(looked->type, kPlainText);
}

}  // namespace
}  // namespace telltale::serve
