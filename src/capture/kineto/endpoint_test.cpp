#include "capture/kineto/endpoint.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>

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
  void send_descriptor(const std::string& text, int descriptor) const {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof descriptor)> control{};
    iovec part{const_cast<char*>(text.data()), text.size()};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* const about = CMSG_FIRSTHDR(&header);
    about->cmsg_level = SOL_SOCKET;
    about->cmsg_type = SCM_RIGHTS;
    about->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(about), &descriptor, sizeof descriptor);
    EXPECT_EQ(sendmsg(descriptor_, &header, 0), text.size());
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

  static std::string pid_of(const ConfigurationRequest& request, int sender) {
    EXPECT_EQ(request.pids.front(), sender);
    return std::to_string(sender);
  }
  static std::string bytes_of(std::int32_t number) { return {reinterpret_cast<const char*>(&number), sizeof number}; }
  static std::string request_of(int pid) {
    return encoded({"req", "\3\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0"s + bytes_of(pid)});
  }
  static std::string registration_of(int pid) {
    return encoded({"ctxt", bytes_of(0) + bytes_of(pid) + std::string(8, '\0')});
  }
  // What stands there before an endpoint is to be made, and must be there afterwards.
  std::string socket_path() const { return folder_ + "/dynolog"; }

  std::string folder_ = "/tmp/telltale-test-XXXXXX";
  const std::string request_ = request_of(getpid());
  const std::string answer_ = encoded({"req", std::to_string(getpid())});
};

TEST_F(EndpointTest, answers_whoever_asks) {
  auto endpoint = Endpoint::in_folder(folder_, geteuid());
  ASSERT_TRUE(endpoint);
  const Asker asker(folder_);
  asker.send_text(request_);
  endpoint->serve(pid_of);
  EXPECT_EQ(asker.received(), answer_);
  EXPECT_EQ(asker.received(), "nothing");
}

TEST_F(EndpointTest, passes_over_what_is_no_request) {
  auto endpoint = Endpoint::in_folder(folder_, geteuid());
  ASSERT_TRUE(endpoint);
  const Asker asker(folder_);
  for (const std::string& text : {""s, "req"s, request_.substr(0, 50), request_ + "x", encoded({"stop", "x"}),
                                  encoded({"req", ""}), encoded({"ctxt", "short"}), std::string(9000, '\xFF')})
    asker.send_text(text);
  endpoint->serve(pid_of);
  EXPECT_EQ(asker.received(), "nothing");
  asker.send_text(registration_of(getpid()));
  endpoint->serve(pid_of);
  EXPECT_EQ(asker.received(), encoded({"ctxt", "\1\0\0\0"s}));
}

TEST_F(EndpointTest, survives_a_process_that_does_not_wait_for_its_answer) {
  auto endpoint = Endpoint::in_folder(folder_, geteuid());
  ASSERT_TRUE(endpoint);
  {
    Asker(folder_).send_text(request_);
  }
  endpoint->serve(pid_of);
  const Asker other(folder_);
  other.send_text(request_);
  endpoint->serve(pid_of);
  EXPECT_EQ(other.received(), answer_);
}

TEST_F(EndpointTest, leaves_a_daemon_that_is_there_alone_and_replaces_one_that_has_gone) {
  {
    auto first = Endpoint::in_folder(folder_, geteuid());
    ASSERT_TRUE(first);
    const auto second = Endpoint::in_folder(folder_, geteuid());
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
  EXPECT_TRUE(Endpoint::in_folder(folder_, geteuid()));
}

TEST_F(EndpointTest, answers_only_the_process_that_a_request_names) {
  auto endpoint = Endpoint::in_folder(folder_, geteuid());
  ASSERT_TRUE(endpoint);
  const Asker asker(folder_);
  asker.send_text(request_of(getppid()));
  asker.send_text(request_of(getpid() + 1));
  asker.send_text(registration_of(getppid()));
  endpoint->serve([](const ConfigurationRequest&, int) {
    ADD_FAILURE() << "nobody has asked";
    return ""s;
  });
  EXPECT_EQ(asker.received(), "nothing");
  asker.send_text(request_);
  endpoint->serve(pid_of);
  EXPECT_EQ(asker.received(), answer_);
}

TEST_F(EndpointTest, answers_only_processes_of_the_user_that_it_serves) {
  auto endpoint = Endpoint::in_folder(folder_, geteuid() + 1);
  ASSERT_TRUE(endpoint);
  const Asker asker(folder_);
  asker.send_text(request_);
  asker.send_text(registration_of(getpid()));
  endpoint->serve(pid_of);
  EXPECT_EQ(asker.received(), "nothing");
}

TEST_F(EndpointTest, removes_nothing_but_a_socket_of_its_user) {
  std::ofstream(socket_path()) << "precious";
  const auto in_the_way = [&] { return Endpoint::in_folder(folder_, geteuid()).error().message; };
  EXPECT_NE(in_the_way().find("is not a socket of yours"), std::string::npos);
  std::filesystem::rename(socket_path(), folder_ + "/file");
  std::filesystem::create_symlink("file", socket_path());
  EXPECT_NE(in_the_way().find("is not a socket of yours"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_symlink(socket_path()));
  EXPECT_EQ(std::filesystem::file_size(folder_ + "/file"), 8u);
}

TEST_F(EndpointTest, removes_no_socket_of_another_user) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make files of another user; run this test as root";
  const int abandoned = socket(AF_UNIX, SOCK_DGRAM, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  socket_path().copy(name.sun_path, sizeof name.sun_path - 1);
  ASSERT_EQ(bind(abandoned, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  close(abandoned);
  ASSERT_EQ(chown(socket_path().c_str(), 54321, 54321), 0);
  EXPECT_FALSE(Endpoint::in_folder(folder_, geteuid()));
  EXPECT_TRUE(std::filesystem::is_socket(socket_path()));
}

TEST_F(EndpointTest, leaves_what_has_taken_its_place_when_it_goes) {
  {
    auto endpoint = Endpoint::in_folder(folder_, geteuid());
    ASSERT_TRUE(endpoint);
    std::filesystem::remove(socket_path());
    std::ofstream(socket_path()) << "precious";
  }
  EXPECT_TRUE(std::filesystem::exists(socket_path()));
}

TEST_F(EndpointTest, takes_no_descriptor_that_somebody_sends_along) {
  const auto open_files = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  auto endpoint = Endpoint::in_folder(folder_, geteuid());
  ASSERT_TRUE(endpoint);
  const Asker asker(folder_);
  const auto before = open_files();
  asker.send_descriptor(request_, STDERR_FILENO);
  endpoint->serve(pid_of);
  EXPECT_EQ(asker.received(), answer_);
  EXPECT_EQ(open_files(), before);
}

TEST_F(EndpointTest, refuses_folders_whose_names_would_hurt_the_asker) {
  EXPECT_FALSE(Endpoint::in_folder("/tmp/" + std::string(kMaxFolderLength, 'x'), geteuid()));
  EXPECT_FALSE(Endpoint::in_folder(folder_ + "/nowhere", geteuid()));
}

}  // namespace
}  // namespace telltale::capture
