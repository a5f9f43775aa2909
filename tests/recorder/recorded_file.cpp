#include "recorded_file.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <thread>

namespace telltale {

RecordingTest::RecordingTest() {
  std::string pattern = (std::filesystem::temp_directory_path() / "telltale-XXXXXX").string();
  folder_ = mkdtemp(pattern.data());
  default_path_ = path();
}

RecordingTest::~RecordingTest() {
  telltale_stop();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::vector<std::string> RecordingTest::files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

telltale_options RecordingTest::options() const {
  telltale_options options;
  telltale_default_options(&options, sizeof options);
  options.path = default_path_.c_str();
  options.quiet = 1;
  return options;
}

Trace read_recording(const std::string& path) {
  Result<Trace> trace = read_trace(path);
  if (trace) return std::move(*trace);
  ADD_FAILURE() << to_string(trace.error());
  return {};
}

std::vector<EventId> events_named(const Trace& trace, std::string_view name) {
  std::vector<EventId> events;
  for (EventId id = 0; id < trace.events.size(); ++id)
    if (trace.name(id) == name) events.push_back(id);
  return events;
}

std::uint64_t count_of(const Trace& trace, std::string_view name) { return events_named(trace, name).size(); }

std::int64_t integer_of(const Trace& trace, EventId event, std::string_view field) {
  const StringId* values = trace.other_arguments.find(event);
  const std::string_view text = values != nullptr ? trace.strings[*values] : std::string_view();
  const std::string key = '"' + std::string(field) + "\":";
  const std::size_t at = text.find(key);
  std::int64_t number = 0;
  if (at == text.npos ||
      std::from_chars(text.data() + at + key.size(), text.data() + text.size(), number).ec != std::errc())
    ADD_FAILURE() << "no " << field << " among the values " << text << " of " << trace.name(event);
  return number;
}

telltale_statistics statistics() {
  telltale_statistics result;
  telltale_get_statistics(&result, sizeof result);
  return result;
}

bool ChildEnd::exited_with(int code) const { return status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == code; }

ChildEnd wait_for(pid_t child) {
  constexpr int kPatienceMs = 60'000;
  for (int waited = 0; waited < kPatienceMs; waited += 5) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return {status};
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return {};
}

}  // namespace telltale
