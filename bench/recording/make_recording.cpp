// Makes a long live recording: make_recording FILE EVENTS. Two threads answer requests, as a server does: scopes inside
// scopes, some with values, operators with their shapes and types, marks, a counter.
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <thread>
#include <vector>

#include "telltale/telltale.hpp"

namespace {

constexpr long kEventsPerRequest = 10;
constexpr int kThreads = 2;

constexpr telltale_field kFields[] = {{"Sequence number", TELLTALE_FIELD_TYPE_INTEGER, 0},
                                      {"Input Dims", TELLTALE_FIELD_TYPE_TEXT, 0},
                                      {"Input type", TELLTALE_FIELD_TYPE_TEXT, 0}};

telltale_site operator_site() {
  telltale_site site = {};
  site.name = "aten::mm";
  site.fields = kFields;
  site.field_count = std::size(kFields);
  site.kind = TELLTALE_KIND_OPERATOR;
  return site;
}

telltale_value text(std::string_view words) {
  telltale_value value = {};
  value.text = {words.data(), words.size()};
  return value;
}

void multiply(long sequence) {
  static telltale_site site = operator_site();
  const telltale_scope scope = telltale_begin(&site);
  telltale_value values[std::size(kFields)] = {};
  values[0].integer = sequence;
  values[1] = text(sequence % 2 != 0 ? "[[16, 1000], [1000, 64]]" : "[[32, 1000], [1000, 64]]");
  values[2] = text(R"(["float", "float"])");
  telltale_end_with(&scope, values);
}

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
    for (int i = 0; i < 2; ++i) multiply(request * 2 + i);
  }
  TELLTALE_INSTANT("answered");
  TELLTALE_COUNTER("queue", request % 17);
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  const long requests = std::atol(words[2]) / kEventsPerRequest / kThreads;
  telltale::Options options(words[1]);
  options.policy = TELLTALE_POLICY_BLOCK;
  telltale::Session session(options);
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([=] {
      for (long request = 0; request < requests; ++request) answer(request * kThreads + thread);
    });
  threads.clear();
  return session.is_recording() ? 0 : 1;
}
