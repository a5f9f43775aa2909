#include "report/activity_terminal.h"

#include <gtest/gtest.h>

#include "report/analyze_terminal.h"
#include "report/testing/sample_diagnosis.h"
#include "report/text_width.h"

namespace telltale {
namespace {

TEST(ActivityText, shows_requests_threads_and_counters) {
  const std::string expected = R"(
Repeats  Times      p50      p90      p99      Max  Waits
request    851  6.68 ms  9.58 ms  13.3 ms  17.4 ms   72 %
batch      251  2.39 ms  4.59 ms  9.68 ms  12.3 ms      –

Thread     Busy
worker 0   38 %  ▇▇▇▇▇▇▇▇░░░░░░░░░░░░  layer 36 · batch 2
worker 1   30 %  ▇▇▇▇▇▇░░░░░░░░░░░░░░  layer 30
clients   0.2 %  ░░░░░░░░░░░░░░░░░░░░
% of 2.00 s

Counter      Mean  Least  Most  Values
queue depth  1.45      0     8   1,102
)";
  EXPECT_EQ(activity_text(server_diagnosis().diagnosis, {}), expected);
}

TEST(ActivityText, stands_where_the_step_would_be_divided) {
  const SampleDiagnosis sample = server_diagnosis();
  const std::string text = analyze_text(sample.diagnosis, sample.trace, {});
  EXPECT_NE(text.find("\nThread     Busy\n"), std::string::npos);
  EXPECT_EQ(text.find("busiest thread"), std::string::npos);
  EXPECT_EQ(text.find("No rule finds anything"), std::string::npos) << "rules know frameworks and devices";
  EXPECT_EQ(analyze_text(healthy_host_diagnosis().diagnosis, sample.trace, {}).find("\nThread"), std::string::npos);
}

TEST(ActivityText, leaves_out_what_nobody_recorded) {
  Diagnosis diagnosis = server_diagnosis().diagnosis;
  diagnosis.counters.clear();
  diagnosis.latencies[0].waiting.reset();
  const std::string text = activity_text(diagnosis, {});
  EXPECT_EQ(text.find("Waits"), std::string::npos);
  EXPECT_EQ(text.find("Counter"), std::string::npos);
  diagnosis.latencies.clear();
  diagnosis.host.threads.clear();
  EXPECT_EQ(activity_text(diagnosis, {}), "");
}

TEST(ActivityText, fits_every_width) {
  SampleDiagnosis sample = server_diagnosis();
  sample.diagnosis.host.threads[1].name = std::string(200, 'x');
  sample.diagnosis.latencies[1].name = std::string(200, 'y');
  sample.diagnosis.host.threads[0].scopes[0].name = "control\x1b[2J" + std::string(200, 'z');
  for (const std::size_t width : {40U, 60U, 80U, 160U}) {
    const std::string text = analyze_text(sample.diagnosis, sample.trace, {.width = width});
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
      EXPECT_LE(display_width(text.substr(at, end - at)), width) << text.substr(at, end - at);
  }
}

TEST(ActivityText, says_how_many_rows_are_left_out) {
  Diagnosis diagnosis = server_diagnosis().diagnosis;
  diagnosis.host.threads.resize(12, diagnosis.host.threads[0]);
  EXPECT_NE(activity_text(diagnosis, {}).find("\nand 2 more threads; % of 2.00 s\n"), std::string::npos);
}

}  // namespace
}  // namespace telltale
