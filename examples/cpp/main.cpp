// A small inference server under load, recorded by Telltale. docs/native.md walks through it.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <telltale/telltale.hpp>

#include "model.h"
#include "server.h"

namespace {

std::map<std::string, std::string> settings = {
    {"--seconds", "2"},    // how long requests arrive
    {"--requests", "0"},   // or how many; 0: as many as there are in that time
    {"--rate", "400"},     // requests a second, on average
    {"--workers", "2"},    // threads that answer
    {"--max-batch", "8"},  // requests in a batch
    {"--max-wait", "5"},   // milliseconds for which a request waits for others to join it
    {"--out", ""},         // the recording; without it, nothing is recorded
    {"--flight", "0"},     // not 0: keep the last so many seconds, and write them when SIGUSR2 comes
};

double number(const char* setting) { return std::atof(settings.at(setting).c_str()); }

bool take_settings(int count, char** words) {
  for (int i = 1; i < count; i += 2) {
    const auto known = settings.find(words[i]);
    if (known == settings.end() || i + 1 == count) return false;
    known->second = words[i + 1];
  }
  return number("--rate") > 0 && number("--workers") >= 1 && number("--max-batch") >= 1;
}

// Clients who know nothing of each other: the time between two requests is exponentially distributed.
void send_requests(RequestQueue& queue) {
  telltale_name_thread("clients");
  std::mt19937 random(42);
  std::exponential_distribution<double> pause(number("--rate"));
  std::normal_distribution<float> value;
  const auto most = static_cast<std::uint64_t>(number("--requests"));
  auto next = Clock::now();
  const auto end = next + std::chrono::duration<double>(number("--seconds"));
  for (std::uint64_t id = 1; most > 0 ? id <= most : next < end; ++id) {
    std::vector<float> input(Model::kInputs);
    for (float& each : input) each = value(random);
    next += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(pause(random)));
    std::this_thread::sleep_until(next);
    queue.push({id, std::move(input), Clock::now()});
  }
}

telltale::Options recording_options() {
  telltale::Options options(settings.at("--out").c_str());
  options.flight_seconds = number("--flight");
  if (options.flight_seconds > 0) options.flight_signal = SIGUSR2;
  return options;
}

void print(const char* what, Served served) {
  std::vector<double>& latencies = served.latencies_ms;
  std::sort(latencies.begin(), latencies.end());
  const auto at = [&](std::size_t percent) {
    return latencies.empty() ? 0 : latencies[latencies.size() * percent / 100];
  };
  std::printf("%s: %zu requests in %d batches, p50 %.3f ms, p99 %.3f ms\n", what, latencies.size(),
              static_cast<int>(served.batches), at(50), at(99));
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** words) {
  if (!take_settings(count, words)) {
    std::fputs("inference_server [OPTION VALUE]…, with these options and values:\n", stderr);
    for (const auto& [option, value] : settings) std::fprintf(stderr, "  %s %s\n", option.c_str(), value.c_str());
    return 2;
  }

  telltale_name_process("inference server");
  telltale_metadata("workers", settings.at("--workers").c_str());
  std::optional<telltale::Session> session;
  if (!settings.at("--out").empty()) {
    session.emplace(recording_options());
    // A server that cannot be recorded serves all the same.
    if (!session->is_recording()) std::fprintf(stderr, "%s\n", telltale::Session::error_text());
  }

  const Model model(1);
  RequestQueue queue(static_cast<std::size_t>(number("--max-batch")),
                     std::chrono::microseconds(static_cast<long>(1000 * number("--max-wait"))));
  Server server(model, queue, static_cast<int>(number("--workers")));
  const auto clients = std::async(std::launch::async, [&] { send_requests(queue); });
  while (clients.wait_for(std::chrono::milliseconds(500)) != std::future_status::ready)
    print("so far", server.served());
  server.finish();
  print("served", server.served());
}
