// soak SECONDS [SEED]: sixteen threads start, stop, step, dump, fork, end and are interrupted at random, and every
// event that a function took note of must be in a file or be counted there as dropped.
//
// Runs in rounds. Within one, nothing is put in order; after it, the files are read and counted. Ends with 1 and a
// sentence when something is missing, and by abort() when nothing happens for a minute.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "formats/read_trace.h"
#include "telltale/telltale.h"

namespace telltale {
namespace {

using namespace std::chrono_literals;

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(static_cast<std::uint32_t>(seed)) {}
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(engine_() % limit); }

 private:
  std::minstd_rand engine_;
};

constexpr int kThreads = 16;
constexpr auto kRound = 300ms;
constexpr auto kPatience = 60s;
constexpr unsigned kChildSeconds = 60;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;  // whose allocator and threads do not survive a fork amid other threads
#else
constexpr bool kIsSanitized = false;
#endif

enum class Mode : std::uint8_t { kStream, kSteps, kFlight };

std::filesystem::path folder;
std::atomic<Mode> mode = Mode::kStream;
std::atomic<bool> is_round_over = false;
std::atomic<std::uint64_t> taken = 0, in_handlers = 0, progress = 0;
std::atomic<std::uint64_t> sessions = 0, forks = 0, dumps = 0, paths = 0;
std::atomic<bool> has_failed = false;

telltale_site own_site = {"soak", "", "", "", nullptr, 0, 0, TELLTALE_KIND_SCOPE, 0};
telltale_site handlers_site = {"soak", "", "", "", nullptr, 0, 1, TELLTALE_KIND_SCOPE, 0};

void fail(const std::string& why) {
  fmt::print(stderr, "soak: {}\n", why);
  has_failed = true;
}

void emit(telltale_site* site) {
  if (telltale_instant(site, nullptr) == TELLTALE_STATUS_OK) ++taken;
}

void emit_in_handler(int /*signal*/) {
  emit(&handlers_site);
  ++in_handlers;
}

// ---- what threads do ----

// Files have the pid in their names, so that those of children are told apart.
void start(Random& random) {
  const std::string path = (folder / fmt::format("run{}.%p.tell", ++paths)).string();
  telltale_options options;
  telltale_default_options(&options, sizeof options);
  options.path = path.c_str();
  options.quiet = 1;
  options.memory_limit = std::uint64_t{64 << 10} << random.below(8);
  options.policy = random.below(3);
  options.fork_mode = kIsSanitized ? 0 : random.below(2);
  options.flush_ms = 1 + random.below(30);
  options.compression = static_cast<std::int32_t>(random.below(2));
  telltale_schedule schedule;
  telltale_default_schedule(&schedule, sizeof schedule);
  schedule.wait = random.below(2);
  schedule.warmup = random.below(2);
  schedule.active = 1 + random.below(3);
  if (mode == Mode::kSteps) {
    options.policy = TELLTALE_POLICY_BLOCK;  // a step that is dropped is counted, too, and nobody knows of it
    if (random.below(2) == 0) options.schedule = &schedule;
  }
  if (mode == Mode::kFlight) {
    options.flight_seconds = 0.01 * static_cast<double>(1 + random.below(20));
    options.flight_step_seconds = 0.001;
    options.flight_signal = SIGUSR2;
  }
  const telltale_status status = telltale_start(&options);
  if (status == TELLTALE_STATUS_OK) ++sessions;
  if (status != TELLTALE_STATUS_OK && status != TELLTALE_STATUS_ALREADY_STARTED) fail(telltale_error_text());
}

void stop() {
  const telltale_status status = telltale_stop();
  if (status != TELLTALE_STATUS_OK && status != TELLTALE_STATUS_NOT_STARTED) fail(telltale_error_text());
}

void dump() {
  const std::string path = (folder / fmt::format("dump{}.{}.tell", ++paths, getpid())).string();
  if (telltale_dump(path.c_str()) != TELLTALE_STATUS_OK) return;
  if (!std::filesystem::exists(path)) fail(path + " was dumped and is not there");
  ++dumps;
}

// The child is alone: what it emits from now on is in its own file, or nowhere.
[[noreturn]] void live_as_child() {
  alarm(kChildSeconds);
  std::uint64_t mine = 0;
  for (int i = 0; i < 300; ++i) mine += telltale_instant(&own_site, nullptr) == TELLTALE_STATUS_OK ? 1 : 0;
  const telltale_status status = telltale_stop();
  telltale_statistics all;
  telltale_get_statistics(&all, sizeof all);
  const bool is_right = status == TELLTALE_STATUS_OK ? all.recorded + all.dropped + all.aged_out == mine : mine == 0;
  _exit(is_right ? 0 : 1);
}

void fork_a_child() {
  // Blocked, so that what the handler emits in between counts for the parent alone.
  sigset_t signals, before;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals, &before);
  const pid_t child = fork();
  if (child == 0) {
    if (kIsSanitized) _exit(telltale_instant(&own_site, nullptr) == TELLTALE_STATUS_OK ? 1 : 0);
    live_as_child();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child > 0 && status != 0) fail(fmt::format("a child ended with status {:#x}", status));
  ++forks;
}

void name_something(Random& random) {
  const std::string name = fmt::format("name {}", random.below(3000));
  telltale_site site = {name.c_str(), "", "", "", nullptr, 0, 0, TELLTALE_KIND_SCOPE, 0};
  telltale_make_site(&site);
  telltale_intern(name.c_str());
  telltale_name_thread(name.c_str());
  telltale_metadata("soak", name.c_str());
}

void act(Random& random) {
  const unsigned choice = random.below(4000);
  if (choice < 20)
    start(random);
  else if (choice < 30)
    stop();
  else if (choice < 32)
    fork_a_child();
  else if (choice < 42)
    std::thread([] {
      for (int i = 0; i < 20; ++i) emit(&own_site);
    }).join();
  else if (choice < 60)
    name_something(random);
  else if (choice < 66)
    telltale_flush();
  else if (choice < 70 && mode == Mode::kFlight)
    dump();
  else if (choice < 74 && mode == Mode::kFlight)
    kill(getpid(), SIGUSR2);
  else if (choice < 90 && mode != Mode::kStream)
    telltale_step();
  else if (choice < 94)
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(500)));
  else
    for (int i = 0; i < 8; ++i) emit(&own_site);
  ++progress;
}

void interrupt_all(const std::vector<std::thread>& threads, Random& random) {
  const auto end = std::chrono::steady_clock::now() + kRound;
  while (std::chrono::steady_clock::now() < end) {
    // Their ids stay valid until they are joined.
    pthread_kill(const_cast<std::thread&>(threads[random.below(kThreads)]).native_handle(), SIGUSR1);
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(300)));
  }
}

// ---- what must be so after a round ----

struct Found {
  std::uint64_t events = 0, dropped = 0;
};

Found count_files() {
  Found found;
  const std::string mine = fmt::format(".{}.", getpid());
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (!name.contains(mine)) continue;
    Result<Trace> trace = read_trace(entry.path().string());
    if (!trace) {
      fail(to_string(trace.error()));
      continue;
    }
    if (trace->anomalies.count(Anomaly::kDamagedChunk) > 0 || trace->anomalies.count(Anomaly::kUnfinishedRecording) > 0)
      fail(name + " is damaged or has no end");
    for (EventId id = 0; id < trace->events.size(); ++id) found.events += trace->name(id) == "soak" ? 1 : 0;
    found.dropped += trace->anomalies.count(Anomaly::kDroppedEvents);
  }
  return found;
}

void check_round(std::uint64_t seed) {
  const Found found = count_files();
  if (mode == Mode::kFlight || found.events + found.dropped == taken) return;
  fail(fmt::format("round with seed {}: {} events were taken, {} are in files and {} counted as dropped", seed,
                   taken.load(), found.events, found.dropped));
}

void run_round(std::uint64_t seed) {
  Random random(seed);
  std::filesystem::create_directories(folder);
  mode = static_cast<Mode>(seed % 3);
  taken = 0;
  is_round_over = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([seed, i] {
      Random own(seed * kThreads + static_cast<std::uint64_t>(i));
      while (!is_round_over) act(own);
    });
  interrupt_all(threads, random);
  is_round_over = true;
  for (std::thread& thread : threads) thread.join();
  stop();
  check_round(seed);
  std::filesystem::remove_all(folder);
}

void watch_progress() {
  std::uint64_t last = 0;
  auto since = std::chrono::steady_clock::now();
  while (true) {
    std::this_thread::sleep_for(500ms);
    const std::uint64_t now = progress + sessions;
    if (now != last) since = std::chrono::steady_clock::now();
    last = now;
    if (std::chrono::steady_clock::now() - since < kPatience) continue;
    fail("nothing has happened for a minute");
    std::abort();
  }
}

int soak(double seconds, std::uint64_t seed) {
  std::string pattern = (std::filesystem::temp_directory_path() / "telltale-soak-XXXXXX").string();
  const std::filesystem::path base = mkdtemp(pattern.data());
  folder = base / "round";
  struct sigaction action{};
  action.sa_handler = emit_in_handler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  std::signal(SIGUSR2, SIG_IGN);  // where no flight recorder waits for it
  std::thread(watch_progress).detach();
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::uint64_t rounds = 0;
  for (; !has_failed && std::chrono::steady_clock::now() < end; ++rounds) run_round(seed + rounds);
  std::filesystem::remove_all(base);
  fmt::print("soak: {} rounds from seed {}: {} sessions, {} dumps, {} forks, {} interruptions: {}\n", rounds, seed,
             sessions.load(), dumps.load(), forks.load(), in_handlers.load(),
             has_failed ? "failed" : "nothing is missing");
  return has_failed ? 1 : 0;
}

}  // namespace
}  // namespace telltale

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: soak SECONDS [SEED]\n");
    return 2;
  }
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : std::random_device()();
  return telltale::soak(std::strtod(argv[1], nullptr), seed);
}
