#include "capture/kineto/protocol.h"

#include <gtest/gtest.h>

namespace telltale::capture {
namespace {

using namespace std::string_literals;

// A request as PyTorch 2.13 sends it, byte for byte: kinds 3, two pids (0x11F0 and 0x11E9), no job.
const std::string kRequestPayload =
    "\x03\0\0\0"s
    "\x02\0\0\0"s
    "\0\0\0\0\0\0\0\0"s
    "\xF0\x11\0\0"s
    "\xE9\x11\0\0"s;
const std::string kRequestDatagram = "\x18\0\0\0\0\0\0\0req"s + std::string(29, '\0') + kRequestPayload;

TEST(Protocol, reads_a_request_byte_for_byte) {
  const auto message = decoded_message(kRequestDatagram);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->type, "req");
  EXPECT_EQ(message->payload, kRequestPayload);
  const auto request = decoded_request(message->payload);
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->can_record);
  EXPECT_EQ(request->job, 0);
  EXPECT_EQ(request->pids, (std::vector<std::int32_t>{0x11F0, 0x11E9}));
}

TEST(Protocol, writes_an_answer_byte_for_byte) {
  EXPECT_EQ(encoded({"req", "A=1\n"}), "\x04\0\0\0\0\0\0\0req"s + std::string(29, '\0') + "A=1\n");
  EXPECT_EQ(encoded({"req", ""}), "\0\0\0\0\0\0\0\0req"s + std::string(29, '\0'));
  EXPECT_EQ(encoded_count(1), "\x01\0\0\0"s);
}

TEST(Protocol, a_long_type_keeps_its_end) {
  const std::string datagram = encoded({std::string(40, 'x'), ""});
  EXPECT_EQ(datagram.size(), 40u);
  EXPECT_EQ(datagram.back(), '\0');
}

TEST(Protocol, a_busy_process_says_so) {
  for (const auto& [kinds, can_record] : {std::pair('\0', false), {'\1', false}, {'\2', true}, {'\3', true}}) {
    std::string payload = kRequestPayload;
    payload[0] = kinds;
    EXPECT_EQ(decoded_request(payload)->can_record, can_record);
  }
}

TEST(Protocol, knows_the_job_of_a_scheduler) {
  std::string payload = kRequestPayload;
  payload[8] = 7;
  payload[12] = 1;
  EXPECT_EQ(decoded_request(payload)->job, (std::int64_t{1} << 32) + 7);
}

TEST(Protocol, every_cut_of_a_request_is_nobodys_request) {
  for (std::size_t size = 0; size < kRequestDatagram.size(); ++size)
    EXPECT_FALSE(decoded_message(std::string_view(kRequestDatagram).substr(0, size))) << size;
  for (std::size_t size = 0; size < kRequestPayload.size(); ++size)
    EXPECT_FALSE(decoded_request(std::string_view(kRequestPayload).substr(0, size))) << size;
  EXPECT_FALSE(decoded_message(kRequestDatagram + "x"));
}

TEST(Protocol, counts_that_lie_are_refused) {
  for (const std::string& count :
       {"\0\0\0\0"s, "\x01\0\0\0"s, "\x03\0\0\0"s, "\xFF\xFF\xFF\xFF"s, "\0\0\0\x80"s, "\x02\0\0\x40"s}) {
    std::string payload = kRequestPayload;
    payload.replace(4, 4, count);
    EXPECT_FALSE(decoded_request(payload));
  }
  std::string huge = kRequestDatagram;
  huge.replace(0, 8, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF");
  EXPECT_FALSE(decoded_message(huge));
}

TEST(Protocol, a_type_without_an_end_and_a_pid_that_is_none_are_refused) {
  std::string endless = kRequestDatagram;
  endless.replace(8, 32, std::string(32, 'r'));
  EXPECT_FALSE(decoded_message(endless));
  std::string payload = kRequestPayload;
  payload.replace(16, 4, "\xFF\xFF\xFF\xFF");
  EXPECT_FALSE(decoded_request(payload));
}

TEST(Protocol, knows_registrations_by_their_size) {
  EXPECT_EQ(decoded_registration("\1\0\0\0\7\0\0\0\0\0\0\0\0\0\0\0"s), 7);
  EXPECT_FALSE(decoded_registration(std::string(15, '\0')));
  EXPECT_FALSE(decoded_registration(std::string(17, '\0')));
}

}  // namespace
}  // namespace telltale::capture
