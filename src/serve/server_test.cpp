#include "serve/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <utility>

namespace telltale::serve {
namespace {

TEST(ReadHead, takes_the_first_line_and_the_fields) {
  const auto head = read_head("GET /api/tiles?level=3 HTTP/1.1\r\nHost: a:1\r\nCOOKIE: x=y\r\ncookie: z=1\r\n\r\n");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->method, "GET");
  EXPECT_EQ(head->path(), "/api/tiles");
  EXPECT_EQ(head->query(), "level=3");
  EXPECT_EQ(head->values("host"), std::vector<std::string_view>{"a:1"});
  EXPECT_EQ(head->values("cookie"), (std::vector<std::string_view>{"x=y", "z=1"}));
}

TEST(ReadHead, refuses_bodies_of_any_kind) {
  const std::string start = "GET / HTTP/1.1\r\nHost: a\r\n";
  EXPECT_EQ(read_head(start + "Content-Length: 5\r\n\r\nhello").error(), 413U);
  EXPECT_EQ(read_head(start + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n").error(), 413U);
  EXPECT_TRUE(read_head(start + "Content-Length: 0\r\n\r\n"));
}

TEST(ReadHead, refuses_what_is_too_long) {
  EXPECT_EQ(read_head("GET /" + std::string(40'000, 'x') + " HTTP/1.1\r\n\r\n").error(), 431U);
  EXPECT_EQ(read_head("GET / HTTP/1.1\r\nA: " + std::string(40'000, 'x') + "\r\n\r\n").error(), 431U);
}

unsigned status_of(std::string_view bytes) {
  const auto head = read_head(bytes);
  return head ? 200 : head.error();
}

TEST(ReadHead, refuses_what_is_no_request) {
  for (const char* bytes :
       {"hello\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET  HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost a\r\n\r\n",
        "\x16\x03\x01\x02 \x01\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"})
    EXPECT_EQ(status_of(bytes), 400U) << bytes;
  EXPECT_EQ(read_head("GET / HTT").error(), 0U);
}

// A browser as simple as can be: one request, and all that comes back.
class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    const sockaddr_in there{
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    is_connected_ = connect(socket_, reinterpret_cast<const sockaddr*>(&there), sizeof there) == 0;
  }
  ~Client() { close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool is_connected() const { return is_connected_; }
  void send(std::string_view bytes) const {
    EXPECT_EQ(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  void ask(const std::string& path) const { send("GET " + path + " HTTP/1.1\r\nConnection: close\r\n\r\n"); }
  std::string answer() const {
    std::string all(1 << 16, '\0');
    std::size_t size = 0;
    for (ssize_t got = 1; got > 0; size += static_cast<std::size_t>(got)) {
      got = recv(socket_, all.data() + size, all.size() - size, 0);
      if (got < 0) break;
    }
    all.resize(size);
    return all;
  }
  // Of a connection that stays open: all up to where the answer ends so.
  std::string answer_up_to(std::string_view end) const {
    std::string all;
    for (char byte = 0; !all.ends_with(end) && recv(socket_, &byte, 1, 0) == 1;) all += byte;
    return all;
  }

 private:
  int socket_;
  bool is_connected_ = false;
};

// Answers "/slow" when it is let go, all else at once, and "/later" by a thread of its own.
class ServerTest : public testing::Test {
 protected:
  ServerTest()
      : server_(*Server::listen(0)), port_(server_.port()), thread_([this] {
          server_.run([this](const RequestHead& head) { return receive(head); }, [this] { return goes_on_.load(); });
        }) {}
  ~ServerTest() override {
    stop();
    let_go();
  }

  void stop() {
    goes_on_ = false;
    if (thread_.joinable()) thread_.join();
  }
  void let_go() {
    if (!std::exchange(is_let_go_, true)) released_.set_value();
  }

  Handling receive(const RequestHead& head) {
    const auto answer = [path = std::string(head.path())] { return Reply{.body = path}; };
    if (head.path() == "/later") return {.later = answer};
    if (head.path() != "/slow") return {.reply = answer()};
    return {.later =
                [this, answer] {
                  answers_begun_ += 1;
                  is_released_.wait();
                  return answer();
                },
            .is_slow = true};
  }

  bool is_let_go_ = false;
  std::promise<void> released_;
  std::shared_future<void> is_released_ = released_.get_future().share();
  std::atomic<bool> goes_on_ = true;
  std::atomic<int> answers_begun_ = 0;
  Server server_;
  const std::uint16_t port_;
  std::thread thread_;
};

TEST_F(ServerTest, slow_answers_hold_up_no_others) {
  std::vector<std::unique_ptr<Client>> patient;
  for (int i = 0; i < 20; ++i) {
    patient.push_back(std::make_unique<Client>(port_));
    patient.back()->ask("/slow");
  }
  for (const char* path : {"/later", "/now", "/later"}) {
    const Client client(port_);
    client.ask(path);
    EXPECT_TRUE(client.answer().ends_with(path));
  }
  let_go();
  for (const auto& client : patient) EXPECT_TRUE(client->answer().ends_with("/slow"));
}

TEST_F(ServerTest, what_nobody_waits_for_any_more_is_not_answered) {
  constexpr int kMoreThanThreads = 30;
  std::vector<std::unique_ptr<Client>> patient;
  for (int i = 0; i < kMoreThanThreads; ++i) {
    patient.push_back(std::make_unique<Client>(port_));
    patient.back()->ask("/slow");
  }
  while (answers_begun_ == 0) std::this_thread::yield();
  for (int i = 0; i < kMoreThanThreads; ++i) Client(port_).ask("/slow");
  for (const char* path : {"/later", "/later"}) {  // by then it has heard of all of them
    const Client client(port_);
    client.ask(path);
    EXPECT_TRUE(client.answer().ends_with(path));
  }
  let_go();
  for (const auto& client : patient) EXPECT_TRUE(client->answer().ends_with("/slow"));
  stop();
  EXPECT_EQ(answers_begun_, kMoreThanThreads);
}

TEST_F(ServerTest, who_waits_for_an_answer_is_not_given_up_for_those_who_only_connect) {
  const Client patient(port_);
  patient.ask("/slow");
  std::vector<std::unique_ptr<Client>> idle;
  for (int i = 0; i < 300; ++i) idle.push_back(std::make_unique<Client>(port_));
  const Client client(port_);
  client.ask("/now");
  EXPECT_TRUE(client.answer().ends_with("/now"));
  let_go();
  EXPECT_TRUE(patient.answer().ends_with("/slow"));
}

TEST_F(ServerTest, answers_one_request_after_another_on_a_connection) {
  const Client client(port_);
  client.send("GET /1 HTTP/1.1\r\n\r\nGET /later HTTP/1.1\r\n\r\nGET /3 HTTP/1.1\r\nConnection: close\r\n\r\n");
  const std::string answer = client.answer();
  const std::size_t first = answer.find("\r\n\r\n/1HTTP/1.1 200"), second = answer.find("\r\n\r\n/laterHTTP/1.1 200");
  EXPECT_NE(first, std::string::npos) << answer;
  EXPECT_NE(second, std::string::npos) << answer;
  EXPECT_LT(first, second);
  EXPECT_TRUE(answer.ends_with("\r\n\r\n/3"));
}

TEST_F(ServerTest, a_connection_that_was_answered_goes_on) {
  const Client client(port_);
  for (int i = 0; i < 50; ++i) {
    client.send("GET /later HTTP/1.1\r\n\r\n");
    ASSERT_TRUE(client.answer_up_to("\r\n\r\n/later").ends_with("/later")) << "request " << i;
  }
}

TEST_F(ServerTest, nobody_is_connected_after_its_end) {
  const Client idle(port_), patient(port_);
  patient.ask("/slow");
  Client(port_).ask("/now");
  stop();
  EXPECT_EQ(idle.answer(), "");
  EXPECT_EQ(patient.answer(), "");
  EXPECT_FALSE(Client(port_).is_connected());
}

TEST_F(ServerTest, a_port_is_listened_at_by_one) {
  const auto other = Server::listen(port_);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message, "port " + std::to_string(port_) +
                                       " is in use; choose another one, or leave --port out for one that is free");
}

}  // namespace
}  // namespace telltale::serve
