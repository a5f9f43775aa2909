// What tests of the recorder need: sessions in a folder of their own, and what is in the files that they wrote.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "formats/read_trace.h"
#include "telltale/telltale.h"

namespace telltale {

// A folder that is empty at the start of a test and gone at its end.
class RecordingTest : public testing::Test {
 protected:
  RecordingTest();
  ~RecordingTest() override;

  std::string path(const std::string& name = "run.tell") const { return (folder_ / name).string(); }
  std::vector<std::string> files() const;

  // Quiet, into path() unless it says otherwise.
  telltale_options options() const;

 private:
  std::filesystem::path folder_;
  std::string default_path_;
};

// Fails the test when the file cannot be read.
Trace read_recording(const std::string& path);

std::uint64_t count_of(const Trace& trace, std::string_view name);
std::vector<EventId> events_named(const Trace& trace, std::string_view name);
// A number among the values of an event.
std::int64_t integer_of(const Trace& trace, EventId event, std::string_view field);
inline std::uint64_t dropped(const Trace& trace) { return trace.anomalies.count(Anomaly::kDroppedEvents); }

telltale_statistics statistics();

// What a child process ended with, within a minute; a child that hangs is killed and gives -1.
struct ChildEnd {
  int status = -1;
  bool exited_with(int code) const;
};
ChildEnd wait_for(pid_t child);

}  // namespace telltale
