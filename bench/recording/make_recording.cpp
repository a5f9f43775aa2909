// Makes a long live recording: make_recording FILE EVENTS. Two threads answer requests, as a server does: scopes inside
// scopes, every fourth with values, marks, a counter.
#include <cstdlib>
#include <thread>
#include <vector>

#include "telltale/telltale.hpp"

namespace {

constexpr long kEventsPerRequest = 8;
constexpr int kThreads = 2;

void answer(long request) {
  const long rows = request % 32;
  const double load = static_cast<double>(request % 100) / 100;
  TELLTALE_SCOPE("request", request, rows);
  {
    TELLTALE_SCOPE("parse");
  }
  {
    TELLTALE_SCOPE("infer", rows, load);
    for (int layer = 0; layer < 3; ++layer) {
      TELLTALE_SCOPE("layer");
    }
  }
  TELLTALE_INSTANT("answered");
  TELLTALE_COUNTER("queue", request % 17);
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  const long requests = std::atol(words[2]) / kEventsPerRequest / kThreads;
  telltale::Options options(words[1]);
  options.policy = TELLTALE_BLOCK;
  telltale::Session session(options);
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([=] {
      for (long request = 0; request < requests; ++request) answer(request * kThreads + thread);
    });
  threads.clear();
  return session.is_recording() ? 0 : 1;
}
