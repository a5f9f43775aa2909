#include "sampler.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <telltale/telltale.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bindings/gil_released.h"
#include "code_table.h"
#include "frames.h"
#include "machine_load.h"
#include "observed_stacks.h"
#include "stack_texts.h"
#include "thread_waits.h"

namespace nb = nanobind;

namespace telltale::python {
namespace {

// ---- The records ----

telltale_site* sample_site() {
  static constexpr telltale_field kFields[] = {{"Thread", TELLTALE_FIELD_TYPE_INTEGER, 0},
                                               {"Call stack", TELLTALE_FIELD_TYPE_NAME, 0},
                                               {"Waits for", TELLTALE_FIELD_TYPE_NAME, 0},
                                               {"Processor time", TELLTALE_FIELD_TYPE_INTEGER, 0}};
  static telltale_site* const site = [] {
    telltale_site description = {};
    description.name = "sample";
    description.category = "sample";
    description.fields = kFields;
    description.field_count = std::size(kFields);
    description.kind = TELLTALE_KIND_OTHER;
    return telltale_make_site(&description);
  }();
  return site;
}

std::uint32_t sample_track() {
  static const std::uint32_t track = [] {
    const telltale_track description = {"samples", TELLTALE_TRACK_TYPE_CUSTOM, TELLTALE_CLOCK_TICKS, -1, 0, 0};
    return telltale_make_track(&description);
  }();
  return track;
}

// Lines of the user's code, and how often each was seen, running or waiting.
class LineCounts {
 public:
  void add(const SourcePlace& place, std::string_view waits_for) {
    if (place.line == 0) return;
    const std::lock_guard lock(mutex_);
    constexpr std::size_t kMost = 10'000;
    const Key key = {place.file, place.line, place.function, std::string(waits_for)};
    if (const auto found = counts_.find(key); found != counts_.end())
      ++found->second;
    else if (counts_.size() < kMost)
      counts_.emplace(key, 1);
  }

  nb::list as_list() {
    // Objects may be made only without the lock: making them can run other code of Python's, on this thread or another.
    const std::map<Key, std::uint64_t> counts = copy();
    nb::list rows;
    for (const auto& [key, count] : counts) {
      const auto& [file, line, function, waits_for] = key;
      rows.append(nb::make_tuple(file, line, function, waits_for, count));
    }
    return rows;
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    counts_.clear();
  }

  // Around fork().
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  using Key = std::tuple<std::string, int, std::string, std::string>;
  std::map<Key, std::uint64_t> copy() {
    const std::lock_guard lock(mutex_);
    return counts_;
  }

  std::mutex mutex_;
  std::map<Key, std::uint64_t> counts_;
};

// ---- One look at all threads ----

// A look at a stack of 20 calls takes some 10 µs, at one of 200 some 100.
constexpr std::chrono::microseconds kLongestLook{300};

class Looker {
 public:
  explicit Looker(LineCounts& lines) : lines_(lines) {}

  void look() {
    if (!look_at_threads(threads_)) return;
    const std::int64_t self = syscall(SYS_gettid);
    for (const ThreadView& thread : threads_) {
      const std::int64_t id = thread.native_id != 0 ? thread.native_id : getpid();  // 3.10 knows but the main one
      if (id == self || thread.innermost == nullptr) continue;
      take(thread, id);
      if (thread.native_id == 0) break;
    }
  }

 private:
  struct Last {
    std::int64_t ran = -1;
    const void* innermost = nullptr;
    std::shared_ptr<const StackText> text;
    std::string_view waits_for;
  };

  void take(const ThreadView& thread, std::int64_t id) {
    const std::int64_t ran = time_thread_ran(id);
    if (ran < 0) return;
    Last& last = last_[id];
    const bool has_stood_still =
        ran == last.ran && thread.innermost == last.innermost && !last.waits_for.empty() && last.text != nullptr;
    std::uint64_t when = telltale_now();
    if (!has_stood_still) {
      last.text = text_of(thread, when);
      if (last.text == nullptr || last.text->name == 0) return;
      last.waits_for = what_thread_waits_for(id);
    }
    const std::int64_t since = last.ran < 0 ? 0 : ran - last.ran;
    last.ran = ran;
    last.innermost = thread.innermost;
    emit(id, *last.text, last.waits_for, since, when);
  }

  // Its innermost calls are those of that time. Null when that is not sure: when this thread lost its processor while
  // it looked, the other one has gone on.
  std::shared_ptr<const StackText> text_of(const ThreadView& thread, std::uint64_t& when) {
    const auto begun = std::chrono::steady_clock::now();
    const std::size_t count = look_at_frames(thread, frames_);
    if (count == 0 || std::chrono::steady_clock::now() - begun > kLongestLook) return nullptr;
    auto text = texts_.find(std::span(frames_).first(count));
    return text != nullptr ? text : learn(thread.state, when);
  }

  // With the GIL the thread's calls stand still, if it is still there.
  std::shared_ptr<const StackText> learn(PyThreadState* state, std::uint64_t& when) {
    const PyGILState_STATE held = PyGILState_Ensure();
    std::shared_ptr<const StackText> text;
    when = telltale_now();
    try {
      if (is_alive(state)) {
        const std::size_t count = read_frames(state, frames_);
        if (code_table().learn(frames_.data(), count)) text = texts_.find(std::span(frames_).first(count));
      }
    } catch (const std::exception&) {  // code whose names are no text
    }
    PyErr_Clear();
    PyGILState_Release(held);
    return text;
  }

  static bool is_alive(const PyThreadState* state) {
    const PyThreadState* other = PyInterpreterState_ThreadHead(PyInterpreterState_Main());
    while (other != nullptr && other != state) other = other->next;
    return other != nullptr;
  }

  void emit(std::int64_t id, const StackText& text, std::string_view waits_for, std::int64_t ran, std::uint64_t when) {
    telltale_value values[4];
    values[0].integer = id;
    values[1].integer = text.name;
    values[2].integer = waits_for.empty() ? 0 : telltale_intern(waits_for.data());
    values[3].integer = ran;
    telltale_span_at(sample_track(), sample_site(), when, when, 0, values);
    lines_.add(text.user, waits_for);
  }

  LineCounts& lines_;
  std::vector<ThreadView> threads_;
  std::array<Frame, kMostFrames> frames_;
  StackTexts texts_;
  std::unordered_map<std::int64_t, Last> last_;  // by native id
};

// ---- The thread ----

class Sampler {
 public:
  void start(double per_second, bool with_stacks) {
    period_ns_ = static_cast<std::int64_t>(1e9 / per_second);
    with_stacks_ = with_stacks;
    lines_.clear();
    survive_forks();
    run();
  }

  void stop() {
    if (!is_running_) return;
    is_wanted_.store(false);
    const GilReleased released;  // it may be waiting for it
    pthread_join(thread_, nullptr);
    is_running_ = false;
  }

  // In a child the thread is gone.
  void restart_after_fork() {
    lines_.clear();
    if (std::exchange(is_running_, false) && telltale_is_recording()) run();
  }

  nb::list lines() { return lines_.as_list(); }

 private:
  void run() {
    if (is_running_) return;
    is_wanted_.store(true);
    // No signal of the program's is to end up on this thread.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    is_running_ = pthread_create(&thread_, nullptr, &Sampler::loop, this) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  static void* loop(void* self) {
    pthread_setname_np(pthread_self(), "telltale sample");
    static_cast<Sampler*>(self)->sample();
    return nullptr;
  }

  void sample() {
    const auto looker = std::make_unique<Looker>(lines_);
    MachineLoad load;
    std::int64_t next_load = 0;
    std::uint32_t random = 12345;
    while (is_wanted_.load(std::memory_order_relaxed)) {
      random = random * 1664525 + 1013904223;
      // Half a period to one and a half: never in step with the program.
      const std::int64_t wait = period_ns_ / 2 + static_cast<std::int64_t>(random >> 8) * period_ns_ / (1 << 24);
      const timespec time = {wait / 1'000'000'000, wait % 1'000'000'000};
      nanosleep(&time, nullptr);
      if (!is_wanted_.load(std::memory_order_relaxed)) break;
      if (!telltale_is_recording()) {
        next_load = 0;  // even a short stretch of recorded steps tells of it
        continue;
      }
      try {
        if (with_stacks_) looker->look();
      } catch (const std::exception&) {  // no memory: a sample less
      }
      next_load -= wait;
      if (next_load > 0) continue;
      next_load = kLoadPeriod;
      load.record();
    }
  }

  // What another thread holds would stay locked in the child for ever.
  void survive_forks() {
    static const int registered = pthread_atfork(
        [] {
          code_table().lock();
          instance().lines_.lock();
        },
        [] { unlock_all(); }, [] { unlock_all(); });
    static_cast<void>(registered);
  }
  static void unlock_all() {
    instance().lines_.unlock();
    code_table().unlock();
  }

 public:
  static Sampler& instance() {
    static auto* const sampler = new Sampler;  // for ever: its thread may outlive all else
    return *sampler;
  }

 private:
  static constexpr std::int64_t kLoadPeriod = 100'000'000;

  LineCounts lines_;
  std::int64_t period_ns_ = 0;
  bool with_stacks_ = false;
  bool is_running_ = false;  // under the GIL
  std::atomic<bool> is_wanted_ = false;
  pthread_t thread_ = {};
};

}  // namespace

void bind_sampler(nb::module_& module) {
  module.def("can_read_stacks", &can_read_frames, "Whether stacks can be read without the help of the interpreter.");
  module.def(
      "describe_code",
      [](std::vector<std::string> prefixes, std::vector<std::string> libraries, std::string own_folder,
         nb::handle module_call, nb::handle around_call) {
        code_table().set_options(
            {std::move(prefixes), std::move(libraries), std::move(own_folder), module_call.ptr(), around_call.ptr()});
      },
      nb::arg("prefixes"), nb::arg("libraries"), nb::arg("own_folder"), nb::arg("module_call"), nb::arg("around_call"),
      "How stacks are told: what names of files are shown without, which folders hold libraries, and the code of the "
      "functions that call an nn.Module.");
  module.def(
      "stack_source", [] { return reinterpret_cast<std::uintptr_t>(&telltale_python_stack); },
      "The address of the function that tells the stack of the calling thread, for the torch adapter.");
  module.def(
      "stack_source_without_gil", [] { return reinterpret_cast<std::uintptr_t>(&telltale_python_stack_without_gil); },
      "The same for who calls it where the GIL must not be waited for, as in CUPTI's callbacks.");
  module.def(
      "start_samples", [](double per_second, bool with_stacks) { Sampler::instance().start(per_second, with_stacks); },
      nb::arg("per_second"), nb::arg("with_stacks"),
      "Begins to sample the load of the machine and, with stacks, what the threads of Python do.");
  module.def("stop_samples", [] { Sampler::instance().stop(); });
  module.def("restart_samples_after_fork", [] { Sampler::instance().restart_after_fork(); });
  module.def(
      "sampled_lines", [] { return Sampler::instance().lines(); },
      "Lines of the user's own code that samples found, each as (file, line, function, what it waits for, samples).");
}

}  // namespace telltale::python
