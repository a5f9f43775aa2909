#include "session_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "recorded_contents.h"
#include "require.h"
#include "session_model.h"
#include "telltale/telltale.h"

namespace telltale::fuzzing {
namespace {

// At once, before anything else in the process uses up the memory for names.
telltale_site* site_named(const char* name, std::uint32_t fields) {
  static const telltale_field id = {"id", TELLTALE_FIELD_TYPE_INTEGER, 0};
  telltale_site description{};
  description.name = name;
  description.fields = &id;
  description.field_count = fields;
  return telltale_make_site(&description);
}
telltale_site* const mark_site = site_named(kMarkName, 1);
telltale_site* const scope_site = site_named(kScopeName, 1);
telltale_site* const counter_site = site_named(kCounterName, 0);

// A thread that does one thing at a time for who asks, who waits for it.
class Worker {
 public:
  ~Worker() {
    is_over_ = true;
    asked_.release();
    thread_.join();
  }
  void run(const std::function<void()>& task) {
    task_ = &task;
    asked_.release();
    done_.acquire();
  }

 private:
  void loop() {
    for (asked_.acquire(); !is_over_; asked_.acquire()) {
      (*task_)();
      done_.release();
    }
  }

  std::binary_semaphore asked_{0}, done_{0};
  const std::function<void()>* task_ = nullptr;
  bool is_over_ = false;
  std::thread thread_{[this] { loop(); }};
};

// The bytes of an input as numbers; zeros when there are no more.
class Choices {
 public:
  explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  bool are_left() const { return !bytes_.empty(); }
  std::uint32_t below(std::uint32_t limit) {
    if (bytes_.empty()) return 0;
    const std::uint32_t choice = bytes_.front() % limit;
    bytes_ = bytes_.subspan(1);
    return choice;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

class Calls {
 public:
  explicit Calls(std::span<const std::uint8_t> bytes) : choices_(bytes) {
    std::string pattern = (std::filesystem::temp_directory_path() / "telltale-calls-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    for (auto& worker : workers_) worker = std::make_unique<Worker>();
    // It outlives sessions, and so do pairs of an earlier input.
    for (std::uint32_t key = 0; key < kKeys; ++key) set_metadata(key, 0);
  }
  ~Calls() { std::filesystem::remove_all(folder_); }

  void run() {
    while (choices_.are_left()) call();
    stop();
    stop();  // what the callback of the first may have started
    expect(telltale_stop(), TELLTALE_STATUS_NOT_STARTED, "stop at the end");
  }

 private:
  void call();
  void start();
  void stop();
  void step();
  void flush();
  void dump();
  void emit(std::uint32_t times);
  void begin();
  void end();
  void replace_thread();
  void set_metadata(std::uint32_t key, std::uint32_t value);

  static constexpr std::uint32_t kKeys = 4;

  std::string full(const std::string& path) const { return (folder_ / path).string(); }
  static void expect(telltale_status is, telltale_status should_be, const std::string& what) {
    require(is == should_be,
            what + " says " + std::to_string(is) + ", not " + std::to_string(should_be) + ": " + telltale_error_text());
  }
  void check_files();
  void check_file(const FileContents& should_be, const RecordedContents& is) const;
  void check_statistics();
  static void on_ready(const char* path, void* user) { static_cast<Calls*>(user)->react(path); }
  void react(const char* path);

  Choices choices_;
  std::filesystem::path folder_;
  SessionModel model_;
  std::unique_ptr<Worker> workers_[SessionModel::kThreads];
  std::vector<telltale_scope> scopes_[SessionModel::kThreads];
  std::int64_t next_id_ = 1;
  std::uint64_t dumps_ = 0;
  Plan::Reaction reaction_ = Plan::Reaction::kNone;  // of the session that on_ready belongs to
  std::vector<std::string> told_;                    // by on_ready
};

void Calls::call() {
  switch (choices_.below(16)) {
    case 0:
    case 1:
      return start();
    case 2:
      return stop();
    case 3:
    case 4:
      return step();
    case 5:
      return flush();
    case 6:
      return dump();
    case 7:
    case 8:
      return begin();
    case 9:
    case 10:
      return end();
    case 11:
      return set_metadata(choices_.below(kKeys), choices_.below(8));
    case 12:
      return replace_thread();
    case 13:
      return emit(300);
    default:
      return emit(1);
  }
}

void Calls::start() {
  Plan plan;
  plan.path = fmt::format("run{}.tell", choices_.below(2));
  plan.is_flight = choices_.below(4) == 0;
  if (!plan.is_flight && choices_.below(2) == 0) {
    plan.skip_first = choices_.below(2);
    plan.wait = choices_.below(3);
    plan.warmup = choices_.below(3);
    plan.active = 1 + choices_.below(3);
    plan.repeat = choices_.below(3);
  }
  constexpr std::uint64_t kLimits[] = {16 << 10, 64 << 10, 4 << 20};
  plan.memory_limit = kLimits[choices_.below(3)];
  plan.policy = static_cast<telltale_policy>(choices_.below(3));
  if (!plan.is_flight) plan.reaction = static_cast<Plan::Reaction>(choices_.below(3));

  const std::string path = full(plan.path);
  telltale_schedule schedule;
  telltale_default_schedule(&schedule, sizeof schedule);
  schedule.skip_first = plan.skip_first;
  schedule.wait = plan.wait;
  schedule.warmup = plan.warmup;
  schedule.active = plan.active;
  schedule.repeat = plan.repeat;
  telltale_options options;
  telltale_default_options(&options, sizeof options);
  options.path = path.c_str();
  options.quiet = 1;
  options.schedule = plan.active > 0 ? &schedule : nullptr;
  options.memory_limit = plan.memory_limit;
  options.policy = plan.policy;
  options.compression = static_cast<std::int32_t>(choices_.below(2));
  options.flight_seconds = plan.is_flight ? 1000 : 0;
  options.on_ready = on_ready;
  options.user = this;
  const telltale_status should_be = model_.start(plan);
  expect(telltale_start(&options), should_be, "start");
  if (should_be != TELLTALE_STATUS_OK) return;
  reaction_ = plan.reaction;
}

// What SessionModel::react() says.
void Calls::react(const char* path) {
  told_.emplace_back(path);
  const Plan::Reaction reaction = std::exchange(reaction_, Plan::Reaction::kNone);
  if (reaction == Plan::Reaction::kNone) return;
  telltale_stop();
  if (reaction != Plan::Reaction::kStartAnother) return;
  const std::string next = full(SessionModel::kNextPath);
  telltale_options options;
  telltale_default_options(&options, sizeof options);
  options.path = next.c_str();
  options.quiet = 1;
  options.memory_limit = Plan().memory_limit;
  options.policy = Plan().policy;
  options.on_ready = on_ready;
  options.user = this;
  expect(telltale_start(&options), TELLTALE_STATUS_OK, "start in on_ready");
}

void Calls::stop() {
  expect(telltale_stop(), model_.stop(), "stop");
  check_files();
  check_statistics();
}

void Calls::step() {
  expect(telltale_step(), model_.step(), "step");
  check_files();
}

void Calls::flush() {
  expect(telltale_flush(), model_.flush(), "flush");
  if (!model_.is_streaming() || !model_.plan().loses_nothing()) return;
  const RecordedContents is = recorded_contents(full(model_.contents().path));
  require(is.contents.marks == model_.contents().marks && is.contents.spans == model_.contents().spans &&
              is.contents.counts == model_.contents().counts && is.contents.steps == model_.contents().steps,
          "what was emitted before a flush is in the file");
}

void Calls::dump() {
  const std::string path = fmt::format("dump{}.tell", dumps_++);
  expect(telltale_dump(full(path).c_str()), model_.dump(path), "dump");
  check_files();
}

void Calls::emit(std::uint32_t times) {
  const std::uint32_t thread = choices_.below(SessionModel::kThreads);
  const bool is_counter = choices_.below(4) == 0;
  workers_[thread]->run([&] {
    for (std::uint32_t i = 0; i < times; ++i) {
      const std::int64_t id = next_id_++;
      telltale_value value;
      value.integer = id;
      const bool is_taken = is_counter ? model_.count(id) : model_.mark(id);
      expect(is_counter ? telltale_counter(counter_site, static_cast<double>(id)) : telltale_instant(mark_site, &value),
             is_taken ? TELLTALE_STATUS_OK : TELLTALE_STATUS_NOT_RECORDING, "an event");
    }
  });
}

void Calls::begin() {
  constexpr std::size_t kMostOpen = 20;
  const std::uint32_t thread = choices_.below(SessionModel::kThreads);
  if (model_.depth(thread) == kMostOpen) return;
  model_.begin(thread);
  workers_[thread]->run([&] { scopes_[thread].push_back(telltale_begin(scope_site)); });
}

void Calls::end() {
  const std::uint32_t thread = choices_.below(SessionModel::kThreads);
  if (scopes_[thread].empty()) return;
  const std::int64_t id = next_id_++;
  telltale_value value;
  value.integer = id;
  const telltale_scope scope = scopes_[thread].back();
  scopes_[thread].pop_back();
  const bool is_taken = model_.end(thread, id);
  workers_[thread]->run([&] {
    expect(telltale_end_with(&scope, &value), is_taken ? TELLTALE_STATUS_OK : TELLTALE_STATUS_NOT_RECORDING, "end");
  });
}

void Calls::replace_thread() {
  const std::uint32_t thread = choices_.below(SessionModel::kThreads);
  model_.end_thread(thread);
  scopes_[thread].clear();
  workers_[thread] = std::make_unique<Worker>();
}

void Calls::set_metadata(std::uint32_t key, std::uint32_t value) {
  const std::string name = fmt::format("key{}", key), text = fmt::format("v{}", value);
  model_.set_metadata(name, fmt::format("\"{}\"", text));
  telltale_metadata(name.c_str(), text.c_str());
}

void Calls::check_files() {
  std::vector<std::string> told = std::exchange(told_, {});
  const std::vector<FileContents> complete = model_.take_complete();
  require(told.size() == complete.size(),
          "on_ready was told of " + std::to_string(told.size()) + " files, not " + std::to_string(complete.size()));
  for (std::size_t i = 0; i < complete.size(); ++i) {
    require(told[i] == full(complete[i].path), "on_ready was told of " + told[i] + ", not " + complete[i].path);
    // A later file may have taken the place of this one.
    const bool is_replaced = std::any_of(complete.begin() + static_cast<std::ptrdiff_t>(i) + 1, complete.end(),
                                         [&](const FileContents& later) { return later.path == complete[i].path; });
    if (!is_replaced && !(model_.is_recording() && model_.contents().path == complete[i].path))
      check_file(complete[i], recorded_contents(told[i]));
  }
  for (const std::string& path : model_.removed())
    require(!std::filesystem::exists(full(path)), path + " is not there: nothing was recorded");
}

bool contains(const std::set<std::int64_t>& all, const std::set<std::int64_t>& some) {
  return std::ranges::includes(all, some);
}

void Calls::check_file(const FileContents& should_be, const RecordedContents& is) const {
  require(contains(should_be.marks, is.contents.marks) && contains(should_be.spans, is.contents.spans) &&
              contains(should_be.counts, is.contents.counts) && contains(should_be.steps, is.contents.steps),
          should_be.path + " has nothing that was not recorded for it");
  require(is.repeated == 0, should_be.path + " has nothing twice");
  const std::size_t missing = should_be.records() - is.contents.records();
  require(missing == is.dropped,
          fmt::format("{} lacks {} marks, {} spans, {} counts and {} steps, and says that it lacks {} records",
                      should_be.path, should_be.marks.size() - is.contents.marks.size(),
                      should_be.spans.size() - is.contents.spans.size(),
                      should_be.counts.size() - is.contents.counts.size(),
                      should_be.steps.size() - is.contents.steps.size(), is.dropped));
  require(is.contents.open_scopes == should_be.open_scopes,
          fmt::format("{} has {} open scopes, not {}", should_be.path, is.contents.open_scopes, should_be.open_scopes));
  require(is.contents.metadata == should_be.metadata, should_be.path + " says what the user wants it to");
}

void Calls::check_statistics() {
  telltale_statistics counts;
  telltale_get_statistics(&counts, sizeof counts);
  if (!model_.has_started() || model_.is_recording()) return;
  const std::uint64_t kept = model_.plan().is_flight ? counts.aged_out : counts.recorded;
  require(
      kept + counts.dropped == model_.emitted(),
      fmt::format("{} records were emitted, and {} + {} are accounted for", model_.emitted(), kept, counts.dropped));
  require(counts.dropped == 0 || !model_.plan().loses_nothing(), "a session with room enough loses nothing");
}

}  // namespace

void run_session_calls(std::span<const std::uint8_t> bytes) { Calls(bytes).run(); }

}  // namespace telltale::fuzzing
