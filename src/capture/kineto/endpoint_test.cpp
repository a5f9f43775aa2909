#include "capture/kineto/endpoint.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <filesystem>

namespace telltale::capture {
namespace {

using namespace std::string_literals;

// A process that asks: a socket of its own in the same folder.
class Asker {
 public:
  explicit Asker(const std::string& folder) : path_(folder + "/asker"), descriptor_(socket(AF_UNIX, SOCK_DGRAM, 0)) {
    const sockaddr_un own = address(path_), daemon = address(folder + "/dynolog");
    EXPECT_EQ(bind(descriptor_, reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
    is_connected_ = connect(descriptor_, reinterpret_cast<const sockaddr*>(&daemon), sizeof daemon) == 0;
  }
  ~Asker() {
    close(descriptor_);
    unlink(path_.c_str());
  }
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;

  bool is_connected() const { return is_connected_; }
  void send_text(const std::string& text) const {
    EXPECT_EQ(send(descriptor_, text.data(), text.size(), 0), text.size());
  }
  std::string received() const {
    std::array<char, 4096> buffer{};
    const ssize_t size = recv(descriptor_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    return size < 0 ? "nothing" : std::string(buffer.data(), static_cast<std::size_t>(size));
  }

 private:
  static sockaddr_un address(const std::string& path) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    path.copy(name.sun_path, sizeof name.sun_path - 1);
    return name;
  }

  std::string path_;
  int descriptor_;
  bool is_connected_ = false;
};

class EndpointTest : public testing::Test {
 protected:
  EndpointTest() { mkdtemp(folder_.data()); }
  ~EndpointTest() override { std::filesystem::remove_all(folder_); }

  static std::string pid_of(const ConfigurationRequest& request) { return std::to_string(request.pids.front()); }

  std::string folder_ = "/tmp/telltale-test-XXXXXX";
  const std::string request_ = encoded({"req", "\3\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\x07\0\0\0"s});
};

TEST_F(EndpointTest, answers_whoever_asks) {
  auto endpoint = Endpoint::in_folder(folder_);
  ASSERT_TRUE(endpoint);
  const Asker asker(folder_);
  asker.send_text(request_);
  endpoint->serve(pid_of);
  EXPECT_EQ(asker.received(), encoded({"req", "7"}));
  EXPECT_EQ(asker.received(), "nothing");
}

TEST_F(EndpointTest, passes_over_what_is_no_request) {
  auto endpoint = Endpoint::in_folder(folder_);
  ASSERT_TRUE(endpoint);
  const Asker asker(folder_);
  for (const std::string& text : {""s, "req"s, request_.substr(0, 50), request_ + "x", encoded({"stop", "x"}),
                                  encoded({"req", ""}), encoded({"ctxt", "short"}), std::string(9000, '\xFF')})
    asker.send_text(text);
  endpoint->serve(pid_of);
  EXPECT_EQ(asker.received(), "nothing");
  asker.send_text(encoded({"ctxt", std::string(16, '\0')}));
  endpoint->serve(pid_of);
  EXPECT_EQ(asker.received(), encoded({"ctxt", "\1\0\0\0"s}));
}

TEST_F(EndpointTest, survives_a_process_that_does_not_wait_for_its_answer) {
  auto endpoint = Endpoint::in_folder(folder_);
  ASSERT_TRUE(endpoint);
  {
    Asker(folder_).send_text(request_);
  }
  endpoint->serve(pid_of);
  const Asker other(folder_);
  other.send_text(request_);
  endpoint->serve(pid_of);
  EXPECT_EQ(other.received(), encoded({"req", "7"}));
}

TEST_F(EndpointTest, leaves_a_daemon_that_is_there_alone_and_replaces_one_that_has_gone) {
  {
    auto first = Endpoint::in_folder(folder_);
    ASSERT_TRUE(first);
    const auto second = Endpoint::in_folder(folder_);
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().message.find("already answers"), std::string::npos);
    EXPECT_TRUE(Asker(folder_).is_connected());
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/dynolog"));
  const int abandoned = socket(AF_UNIX, SOCK_DGRAM, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  (folder_ + "/dynolog").copy(name.sun_path, sizeof name.sun_path - 1);
  ASSERT_EQ(bind(abandoned, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  close(abandoned);
  EXPECT_TRUE(Endpoint::in_folder(folder_));
}

TEST_F(EndpointTest, refuses_folders_whose_names_would_hurt_the_asker) {
  EXPECT_FALSE(Endpoint::in_folder("/tmp/" + std::string(kMaxFolderLength, 'x')));
  EXPECT_FALSE(Endpoint::in_folder(folder_ + "/nowhere"));
}

}  // namespace
}  // namespace telltale::capture
