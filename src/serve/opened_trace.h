// The trace that is served: read and diagnosed by a thread of its own while the page is already there and, where it is
// followed, again as its file grows. The old one is asked until the new one is ready.
//
// Safe to ask by any thread. Its end asks the reading to end, and waits for that; a diagnosis is waited for.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "answers/source.h"
#include "answers/view.h"
#include "base/error.h"
#include "serve/followed_file.h"

namespace telltale::serve {

// What api/state tells of the trace.
struct OpeningState {
  enum class Stage { kReading, kIndexing, kReady, kFailed } stage = Stage::kReading;
  std::string doing;            // "Reading"; empty when there is nothing to wait for
  std::optional<double> share;  // done of it
  bool has_diagnosis = false;
  std::optional<Error> error;  // why it failed, or why the file could not be read again
  std::uint64_t generation = 0;
  bool is_followed = false;
  bool is_recording = false;  // the followed file is still being written
};

struct Opening {
  answers::Source source;  // whose own progress is told as well, while it is first read
  std::vector<std::string> source_folders;
  bool is_followed = false;
};

class OpenedTrace {
 public:
  // Begins to read at once.
  explicit OpenedTrace(Opening opening);
  ~OpenedTrace();
  OpenedTrace(const OpenedTrace&) = delete;
  OpenedTrace& operator=(const OpenedTrace&) = delete;

  OpeningState state() const;
  // Waits so long at most; less when the trace has been read or cannot be.
  void wait_until_read(std::chrono::steady_clock::duration longest) const;
  std::shared_ptr<const answers::View> view() const;  // null until there is one
  const std::string& path() const { return path_; }

 private:
  using Clock = std::chrono::steady_clock;

  void work(Opening opening);
  Result<std::shared_ptr<const answers::View>> read(const Opening& opening);
  void show(std::shared_ptr<const answers::View> view);
  void diagnose(const answers::View& view);
  void follow(const Opening& opening, std::optional<FileMark> seen);
  void give_up_unused();  // until the end
  void progress(std::string_view doing, std::optional<double> share);
  void set_error(Error error);
  void set_recording(bool is_recording);
  bool wait(Clock::duration duration);  // false: it ended, since we are to stop

  const std::string path_;
  mutable std::mutex mutex_;
  std::condition_variable stopped_;
  mutable std::condition_variable read_;  // or failed
  OpeningState state_;
  std::shared_ptr<const answers::View> view_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace telltale::serve
