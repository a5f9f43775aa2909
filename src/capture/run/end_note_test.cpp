#include "capture/run/end_note.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "formats/read_trace.h"
#include "tell/crc32c.h"
#include "tell/layout.h"

namespace telltale::capture {
namespace {

std::string bytes_of(const auto& value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string chunk(tell::ChunkKind kind, std::uint64_t sequence, const std::string& payload) {
  tell::ChunkHeader header{};
  header.mark = tell::kChunkMark;
  header.kind = static_cast<std::uint16_t>(kind);
  header.stored_bytes = header.raw_bytes = static_cast<std::uint32_t>(payload.size());
  header.sequence = sequence;
  header.payload_crc = tell::crc32c(payload.data(), payload.size());
  header.header_crc = tell::crc32c(&header, 28);
  return bytes_of(header) + payload;
}

std::string file_header() {
  tell::FileHeader header{};
  std::memcpy(header.magic, tell::kMagic, sizeof header.magic);
  header.major_version = tell::kMajorVersion;
  return bytes_of(header);
}

// One pair, "pid" and "4711".
const std::string kSession = chunk(tell::ChunkKind::kSession, 0, "\1\3pid\0044711");

class EndNoteTest : public testing::Test {
 protected:
  EndNoteTest() : path_(testing::TempDir() + "end_note_" + std::to_string(getpid()) + ".tell") {}
  ~EndNoteTest() override { std::filesystem::remove(path_); }

  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string path_;
};

TEST(HowItEnded, names_the_signal_or_the_exit_code) {
  EXPECT_EQ(how_it_ended({143, SIGTERM}, false), "signal 15 (Terminated)");
  EXPECT_EQ(how_it_ended({143, SIGTERM}, true), "SIGTERM from telltale record");
  EXPECT_EQ(how_it_ended({137, SIGKILL}, true), "signal 9 (Killed)");
  EXPECT_EQ(how_it_ended({3, 0}, false), "exit code 3");
}

TEST_F(EndNoteTest, stands_behind_the_last_whole_chunk_and_is_read_again) {
  const std::string whole = file_header() + kSession;
  // "ended_by" has 8 bytes, "exit code 3" 11.
  const std::string noted = whole + chunk(tell::ChunkKind::kSession, 1, "\1\10ended_by\13exit code 3");
  for (const std::size_t rest : {std::size_t{0}, std::size_t{10}, kSession.size() - 1}) {
    write(whole + chunk(tell::ChunkKind::kSession, 1, "\1\3pid\0044711").substr(0, rest));
    EXPECT_TRUE(note_end(path_, "exit code 3"));
    EXPECT_EQ(content(), noted) << rest;
  }
  const auto trace = read_trace(path_, {});
  ASSERT_TRUE(trace.has_value());
  ASSERT_EQ(trace->anomalies.list().size(), 1u);
  EXPECT_EQ(trace->anomalies.list()[0].anomaly, Anomaly::kUnfinishedRecording);
  EXPECT_TRUE(trace->anomalies.list()[0].example.text.starts_with("Its process ended with exit code 3; it reaches "));
}

TEST_F(EndNoteTest, leaves_alone_what_has_an_end_or_is_no_recording) {
  const std::string ended = file_header() + kSession + chunk(tell::ChunkKind::kEnd, 1, std::string(10, '\0'));
  for (const std::string& bytes : {ended, std::string("{\"traceEvents\": []}"), std::string()}) {
    write(bytes);
    EXPECT_FALSE(note_end(path_, "exit code 3"));
    EXPECT_EQ(content(), bytes);
  }
}

TEST_F(EndNoteTest, leaves_alone_what_somebody_writes_to) {
  write(file_header() + kSession);
  const int writer = open(path_.c_str(), O_RDWR);
  ASSERT_EQ(flock(writer, LOCK_EX | LOCK_NB), 0);
  EXPECT_FALSE(note_end(path_, "exit code 3"));
  close(writer);
  EXPECT_EQ(content(), file_header() + kSession);
}

}  // namespace
}  // namespace telltale::capture
