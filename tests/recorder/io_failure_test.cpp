// When the file cannot be written, the host goes on, and what is lost is counted and told.
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "record/file_access.h"
#include "recorded_file.h"
#include "telltale/telltale.hpp"

namespace telltale {
namespace {

using record::file_access;
using record::kSystemFiles;

telltale_site work = {"work", "", __FILE__, "emit", nullptr, 0, __LINE__, TELLTALE_KIND_SCOPE, 0};

// The disk is full while this holds, from that many bytes on.
std::atomic<std::uint64_t> full_from = UINT64_MAX;
std::atomic<std::size_t> largest_write = SIZE_MAX;  // what the disk has room for, and keeps
std::atomic<int> open_error = 0;

int open_or_fail(const char* path, int* file) {
  return open_error != 0 ? open_error.load() : kSystemFiles.open(path, file);
}

// As a real disk does it: what fits is written before the error comes.
int write_until_full(int file, const void* bytes, std::size_t size, std::uint64_t offset) {
  if (size > largest_write) return ENOSPC;
  if (offset + size <= full_from) return kSystemFiles.write(file, bytes, size, offset);
  if (offset < full_from) kSystemFiles.write(file, bytes, full_from - offset, offset);
  return ENOSPC;
}

const record::FileAccess kFailing = {open_or_fail,       write_until_full,   kSystemFiles.truncate, kSystemFiles.check,
                                     kSystemFiles.close, kSystemFiles.leave, kSystemFiles.remove};

class IoFailureTest : public RecordingTest {
 protected:
  IoFailureTest() {
    full_from = UINT64_MAX;
    largest_write = SIZE_MAX;
    open_error = 0;
    file_access = &kFailing;
  }
  ~IoFailureTest() override {
    telltale_stop();
    file_access = &kSystemFiles;
  }

  void emit(int count) {
    for (int i = 0; i < count; ++i) {
      const telltale_scope scope = telltale_begin(&work);
      emitted_ += telltale_end(&scope) == TELLTALE_STATUS_OK ? 1 : 0;
    }
  }

  // What is in the file and what the file, or at least the statistics, count as lost is all there was.
  void expect_nothing_lost_in_silence() {
    const telltale_statistics stats = statistics();
    EXPECT_EQ(stats.recorded + stats.dropped, emitted_);
    const Trace trace = read_recording(path());
    EXPECT_EQ(count_of(trace, "work"), stats.recorded);
    EXPECT_EQ(trace.anomalies.count(Anomaly::kDamagedChunk), 0u);
  }

  std::uint64_t emitted_ = 0;
};

TEST_F(IoFailureTest, a_disk_that_fills_up_in_the_middle_costs_what_came_after) {
  const telltale_options options = this->options();
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  emit(1000);
  telltale_flush();
  full_from = 1000;  // inside what is there already
  emit(1000);
  telltale_flush();
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_CANNOT_WRITE);
  EXPECT_STREQ(telltale_error_text(), "1000 events could not be written: No space left on device");
  EXPECT_EQ(statistics().recorded, 1000u);
  EXPECT_EQ(statistics().dropped_write_failed, 1000u);
  expect_nothing_lost_in_silence();
}

TEST_F(IoFailureTest, a_chunk_that_was_cut_by_a_full_disk_leaves_no_trace_in_the_file) {
  const telltale_options options = this->options();
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  emit(1000);
  telltale_flush();
  struct stat status{};
  ASSERT_EQ(stat(path().c_str(), &status), 0);
  full_from = static_cast<std::uint64_t>(status.st_size) + 50;
  emit(1000);
  telltale_flush();
  full_from = UINT64_MAX;
  emit(500);
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_CANNOT_WRITE);
  EXPECT_EQ(statistics().recorded, 1500u);
  expect_nothing_lost_in_silence();
  EXPECT_EQ(dropped(read_recording(path())), 1000u);
}

TEST_F(IoFailureTest, a_disk_without_room_for_the_last_events_has_some_for_their_number) {
  telltale_options options = this->options();
  options.compression = 0;  // so that a chunk of events is larger than all that ends a file
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  emit(10);
  telltale_flush();
  largest_write = 5000;  // chunks of events have 10,950 bytes and more, all that ends the file 3,463
  emit(20'000);
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_CANNOT_WRITE);
  EXPECT_NE(std::string(telltale_error_text()).find("events could not be written: No space left"), std::string::npos);
  const std::uint64_t lost = statistics().dropped_write_failed;
  EXPECT_GT(lost, 0u);
  expect_nothing_lost_in_silence();
  const Trace trace = read_recording(path());
  EXPECT_EQ(dropped(trace), lost);
  EXPECT_EQ(trace.anomalies.count(Anomaly::kUnfinishedRecording), 0u);
}

TEST_F(IoFailureTest, an_end_that_cannot_be_written_is_told_of_though_no_event_is_lost) {
  telltale_options options = this->options();
  options.quiet = 0;
  testing::internal::CaptureStderr();
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  emit(10);
  telltale_flush();
  full_from = 0;
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_CANNOT_WRITE);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "telltale: the end of " + path() + " could not be written: No space left on device\n");
  EXPECT_STREQ(telltale_error_text(), "the end of the file could not be written: No space left on device");
  EXPECT_EQ(statistics().recorded, 10u);
  expect_nothing_lost_in_silence();
}

TEST_F(IoFailureTest, nothing_is_said_into_a_file_that_has_become_the_hosts_standard_error) {
  telltale_options options = this->options();
  options.quiet = 0;
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  emit(10);
  telltale_flush();
  full_from = 0;
  // As a daemon does: its streams are closed, and the next file that it opens gets the number.
  const int before = dup(STDERR_FILENO);
  const int file = open(path("database").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(dup2(file, STDERR_FILENO), STDERR_FILENO);
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_CANNOT_WRITE);
  EXPECT_EQ(dup2(before, STDERR_FILENO), STDERR_FILENO);
  EXPECT_EQ(lseek(file, 0, SEEK_END), 0);
  close(file);
  close(before);
}

TEST_F(IoFailureTest, a_session_in_cpp_says_why_it_records_nothing_unless_it_is_quiet) {
  open_error = EROFS;
  const std::string file = path();
  for (const bool is_quiet : {false, true}) {
    Options options(file.c_str());
    options.quiet = is_quiet ? 1 : 0;
    testing::internal::CaptureStderr();
    const Session session(options);
    EXPECT_EQ(session.status(), TELLTALE_STATUS_CANNOT_OPEN);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              is_quiet ? "" : "telltale: nothing is recorded: cannot write to " + file + ": Read-only file system\n");
  }
}

TEST_F(IoFailureTest, a_disk_that_was_full_from_the_start_refuses_the_session) {
  full_from = 0;
  const telltale_options options = this->options();
  EXPECT_EQ(telltale_start(&options), TELLTALE_STATUS_CANNOT_OPEN);
  EXPECT_NE(std::string(telltale_error_text()).find("No space left on device"), std::string::npos);
  emit(10);
  EXPECT_EQ(emitted_, 0u);
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_NOT_STARTED);
}

TEST_F(IoFailureTest, names_and_threads_that_were_lost_with_a_chunk_are_described_again) {
  const telltale_options options = this->options();
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  telltale_flush();
  full_from = 0;
  telltale_site fresh = {"fresh", "", __FILE__, "emit", nullptr, 0, __LINE__, TELLTALE_KIND_SCOPE, 0};
  telltale_instant(&fresh, nullptr);
  telltale_flush();
  full_from = UINT64_MAX;
  telltale_instant(&fresh, nullptr);
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_CANNOT_WRITE);
  const Trace trace = read_recording(path());
  EXPECT_EQ(count_of(trace, "fresh"), 1u);
  EXPECT_EQ(dropped(trace), 1u);
}

TEST_F(IoFailureTest, a_file_that_may_not_be_written_refuses_the_session) {
  for (const int error : {EACCES, EROFS, ENOENT}) {
    open_error = error;
    const telltale_options options = this->options();
    EXPECT_EQ(telltale_start(&options), TELLTALE_STATUS_CANNOT_OPEN);
    EXPECT_NE(std::string(telltale_error_text()).find(strerror(error)), std::string::npos) << telltale_error_text();
    emit(10);
    EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_NOT_STARTED);
  }
  EXPECT_EQ(emitted_, 0u);
}

TEST_F(IoFailureTest, a_folder_that_does_not_exist_refuses_the_session) {
  telltale_options options = this->options();
  const std::string nowhere = path("no/such/run.tell");
  options.path = nowhere.c_str();
  EXPECT_EQ(telltale_start(&options), TELLTALE_STATUS_CANNOT_OPEN);
  EXPECT_EQ(std::string(telltale_error_text()),
            "nothing is recorded: cannot write to " + nowhere + ": No such file or directory");
}

TEST_F(IoFailureTest, a_folder_that_vanishes_takes_everything_with_it_and_this_is_counted) {
  telltale_options options = this->options();
  std::filesystem::create_directory(path("sub"));
  const std::string inside = path("sub/run.tell");
  options.path = inside.c_str();
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  emit(100);
  telltale_flush();
  std::filesystem::remove_all(path("sub"));
  emit(50);
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_CANNOT_WRITE);
  EXPECT_EQ(statistics().recorded, 0u);
  EXPECT_EQ(statistics().dropped_write_failed, 150u);
}

TEST_F(IoFailureTest, a_later_file_that_cannot_be_opened_is_counted_and_the_next_one_is_written) {
  telltale_options options = this->options();
  const telltale_schedule schedule = {.size = sizeof(telltale_schedule),
                                      .skip_first = 0,
                                      .wait = 0,
                                      .warmup = 0,
                                      .active = 1,
                                      .repeat = 3,
                                      .skip_first_wait = 0};
  options.schedule = &schedule;
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  emit(10);
  open_error = EACCES;
  telltale_step();
  emit(10);
  open_error = 0;
  telltale_step();
  emit(10);
  telltale_step();
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_CANNOT_WRITE);
  EXPECT_EQ(files(), (std::vector<std::string>{"run.2.tell", "run.tell"}));
  EXPECT_EQ(statistics().dropped_write_failed, 11u);  // and its step
  EXPECT_EQ(statistics().recorded, 22u);
}

TEST_F(IoFailureTest, a_descriptor_that_the_host_closed_and_used_again_is_left_alone) {
  const telltale_options options = this->options();
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  emit(10);
  telltale_flush();
  // As a daemon does: everything is closed, then a file is opened.
  int ours = -1;
  for (int file = 3; file < 64; ++file) {
    std::error_code error;
    const auto target = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file), error);
    if (!error && target == path()) ours = file;
  }
  ASSERT_GE(ours, 0);
  FILE* other = fopen(path("other").c_str(), "w");
  ASSERT_NE(other, nullptr);
  ASSERT_EQ(dup2(fileno(other), ours), ours);
  emit(10);
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_CANNOT_WRITE);
  EXPECT_EQ(std::filesystem::file_size(path("other")), 0u);
  EXPECT_EQ(fcntl(ours, F_GETFD) >= 0, true) << "it is the host's now, and not ours to close";
  close(ours);
  fclose(other);
}

TEST_F(IoFailureTest, two_recordings_do_not_share_a_file) {
  const telltale_options options = this->options();
  int other = -1;
  ASSERT_EQ(kSystemFiles.open(path().c_str(), &other), 0);
  EXPECT_EQ(telltale_start(&options), TELLTALE_STATUS_CANNOT_OPEN);
  EXPECT_EQ(std::string(telltale_error_text()), "nothing is recorded: another recording writes to " + path());
  close(other);
  EXPECT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
}

TEST_F(IoFailureTest, of_many_who_replace_a_file_nobody_takes_it_from_another) {
  constexpr int kProcesses = 4, kRounds = 2000, kTaken = 1;
  std::array<pid_t, kProcesses> children{};
  for (pid_t& child : children) {
    child = fork();
    if (child != 0) continue;
    for (int round = 0; round < kRounds; ++round) {
      int file = -1;
      if (kSystemFiles.open(path().c_str(), &file) != 0) continue;
      sched_yield();
      if (kSystemFiles.check(file) != 0) _exit(kTaken);
      kSystemFiles.close(file);
    }
    _exit(0);
  }
  for (const pid_t child : children) EXPECT_TRUE(wait_for(child).exited_with(0));
}

}  // namespace
}  // namespace telltale
