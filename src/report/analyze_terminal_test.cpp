#include "report/analyze_terminal.h"

#include <gtest/gtest.h>

#include <sstream>

#include "report/testing/sample_diagnosis.h"
#include "report/text_width.h"

namespace telltale {
namespace {

std::string text_of(const SampleDiagnosis& sample, const TextStyle& style = {}) {
  return analyze_text(sample.diagnosis, sample.trace, style);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

TEST(AnalyzeText, answers_on_the_first_screen) {
  const std::string expected = R"(train.json.gz · NVIDIA H200 · 3 steps
A step takes about 48.5 ms unprofiled (44.1 to 52.0 ms; 58.0 ms as recorded:
recording made it 20 % slower). The GPU is busy 71 % of the recorded step,
mostly with matmul; otherwise it waits, mostly for the host to launch work.

  ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇░░░░░░░░░░░░░░░░░░░░░░
  matmul 31 · attention 22 · elementwise 11 · other 7
  idle 29: launching 18, sync 8, data loading 3
  % of a step of 58.0 ms, as recorded

1  Attention runs as five kernels a layer        saves 12.1 ms  25 %  (20 to 28)
   models/gpt2.py:312 in attend
   12 layers compute scores, mask, softmax and product one by one, 21.3 ms a
   step.
   The same change helps here: Norms run in pieces.
   Use torch.nn.functional.scaled_dot_product_attention.
   Also explains: rule_without_a_title.
     - attn = softmax(q @ k.transpose(-2, -1)) @ v
     + attn = F.scaled_dot_product_attention(q, k, v)
)";
  EXPECT_EQ(text_of(sample_diagnosis()).substr(0, expected.size()), expected);
}

TEST(AnalyzeText, labels_the_bar_on_one_line_where_that_fits) {
  SampleDiagnosis sample = sample_diagnosis();
  sample.diagnosis.breakdown.by_host_work = {};
  sample.diagnosis.breakdown.by_host_work[static_cast<std::size_t>(HostWork::kSync)] = 16'820'000;
  EXPECT_NE(text_of(sample).find("\n  matmul 31 · attention 22 · elementwise 11 · other 7 │ idle 29: sync 29\n"),
            std::string::npos);
}

TEST(AnalyzeText, a_finding_without_saving_promises_none) {
  const std::string text = text_of(sample_diagnosis());
  const std::size_t memory = text.find("4  Memory grows by 64 MiB a step\n");
  ASSERT_NE(memory, std::string::npos);
  EXPECT_EQ(text.find("saves", memory), std::string::npos);
  EXPECT_EQ(count_of(text, "saves "), 3U);
}

TEST(AnalyzeText, says_when_it_is_not_sure) {
  EXPECT_NE(text_of(sample_diagnosis()).find("train.py:31 in step · low confidence\n"), std::string::npos);
}

TEST(AnalyzeText, fits_every_width) {
  for (const std::size_t width : {40U, 60U, 80U, 100U, 160U}) {
    for (const SampleDiagnosis& sample : {sample_diagnosis(), healthy_host_diagnosis()}) {
      for (const std::string& line : lines_of(text_of(sample, {.width = width}))) {
        EXPECT_LE(display_width(line), width) << line;
      }
    }
  }
}

TEST(AnalyzeText, has_colors_only_where_asked) {
  EXPECT_EQ(text_of(sample_diagnosis()).find('\x1b'), std::string::npos);
  const std::string colored = text_of(sample_diagnosis(), {.width = 80, .has_color = true});
  EXPECT_NE(colored.find("\x1b[38;5;25m▇"), std::string::npos);   // matmul
  EXPECT_NE(colored.find("\x1b[38;5;214m░"), std::string::npos);  // launching
}

TEST(AnalyzeText, the_bar_is_full_whatever_the_shares) {
  SampleDiagnosis sample = sample_diagnosis();
  StepBreakdown& breakdown = sample.diagnosis.breakdown;
  breakdown.busy.fill(1'933'333);
  breakdown.by_host_work.fill(3'866'667);
  breakdown.step = std::ssize(breakdown.busy) * 1'933'333 + std::ssize(breakdown.by_host_work) * 3'866'667;
  const std::string text = text_of(sample);
  EXPECT_EQ(count_of(text, "▇") + count_of(text, "░"), 76U);
}

TEST(AnalyzeText, says_plainly_that_nothing_was_found) {
  const std::string text = text_of(healthy_host_diagnosis());
  EXPECT_NE(text.find("\nNo rule found anything whose fix would save time or memory.\n"), std::string::npos);
  EXPECT_NE(text.find("\n  operators 80 · Python 20\n"), std::string::npos);
  EXPECT_EQ(text.find("idle"), std::string::npos);
}

TEST(AnalyzeText, ends_with_what_to_ask_next) {
  const std::vector<std::string> lines = lines_of(text_of(sample_diagnosis(), {.width = 120}));
  ASSERT_GE(lines.size(), 5U);
  EXPECT_EQ(lines[lines.size() - 5],
            "Each saving is what that fix alone would buy; savings overlap and do not add up.");
  EXPECT_EQ(lines[lines.size() - 4],
            "How each saving is computed: telltale analyze --explain RULE, here unfused_attention, host_sync,");
  EXPECT_EQ(lines[lines.size() - 2], "Note: Shapes were not recorded, so that rules about shapes are silent.");
  EXPECT_EQ(lines[lines.size() - 1], "Note: 1 thing in the file was repaired: telltale info shows it.");
}

TEST(AnalyzeText, breaks_long_code_under_itself) {
  SampleDiagnosis sample = healthy_host_diagnosis();
  sample.diagnosis.findings.resize(1);
  sample.diagnosis.findings[0].fix.code = "+   loader = DataLoader(dataset, num_workers=4)";
  EXPECT_NE(text_of(sample, {.width = 40}).find("     +   loader = DataLoader(dataset,\n         num_workers=4)\n"),
            std::string::npos)
      << text_of(sample, {.width = 40});
}

TEST(AnalyzeText, lets_no_name_move_the_cursor) {
  SampleDiagnosis sample = sample_diagnosis();
  for (Finding& finding : sample.diagnosis.findings) {
    finding.title += "\x1b[2J";
    finding.explanation += "\x1b]0;x\x07";
    finding.fix.code += "\n+ \x1b[31m";
    finding.source = SourceLine{"\x1b[1m.py", 1, "\x1b[5m"};
  }
  EXPECT_EQ(text_of(sample).find('\x1b'), std::string::npos);
}

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
  const std::string text = text_of(server_diagnosis());
  EXPECT_NE(text.find(expected), std::string::npos) << text;
}

TEST(ActivityText, stands_where_the_step_would_be_divided) {
  const SampleDiagnosis sample = server_diagnosis();
  const std::string text = text_of(sample);
  EXPECT_NE(text.find("\nThread     Busy\n"), std::string::npos);
  EXPECT_EQ(text.find("busiest thread"), std::string::npos);
  EXPECT_EQ(text.find("No rule found anything"), std::string::npos) << "rules know frameworks and devices";
  EXPECT_EQ(text_of(healthy_host_diagnosis()).find("\nThread"), std::string::npos);
}

TEST(ActivityText, leaves_out_what_nobody_recorded) {
  SampleDiagnosis sample = server_diagnosis();
  Diagnosis& diagnosis = sample.diagnosis;
  diagnosis.counters.clear();
  diagnosis.latencies[0].waiting.reset();
  const std::string text = text_of(sample);
  EXPECT_EQ(text.find("Waits"), std::string::npos);
  EXPECT_EQ(text.find("Counter"), std::string::npos);
  diagnosis.latencies.clear();
  diagnosis.host.threads.clear();
  EXPECT_EQ(text_of(sample).find("Repeats"), std::string::npos);
  EXPECT_EQ(text_of(sample).find("Busy"), std::string::npos);
}

TEST(ActivityText, fits_every_width) {
  SampleDiagnosis sample = server_diagnosis();
  sample.diagnosis.host.threads[1].name = std::string(200, 'x');
  sample.diagnosis.latencies[1].name = std::string(200, 'y');
  sample.diagnosis.host.threads[0].scopes[0].name = "control\x1b[2J" + std::string(200, 'z');
  for (const std::size_t width : {40U, 60U, 80U, 160U}) {
    const std::string text = text_of(sample, {.width = width});
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
      EXPECT_LE(display_width(text.substr(at, end - at)), width) << text.substr(at, end - at);
  }
}

TEST(ActivityText, says_how_many_rows_are_left_out) {
  SampleDiagnosis sample = server_diagnosis();
  sample.diagnosis.host.threads.resize(12, sample.diagnosis.host.threads[0]);
  EXPECT_NE(text_of(sample).find("\nand 2 more threads; % of 2.00 s\n"), std::string::npos);
}

TEST(RuleText, tells_what_a_rule_looks_for_and_how_well_it_held) {
  const RuleInfo rule = {"host_sync", "The host waits", "Waits.", "Nothing.", {}, "Replay.", "Within 5 points."};
  EXPECT_EQ(rule_text(rule, {}),
            "host_sync\nThe host waits\n\nLooks for\n  Waits.\n\nNeeds\n  Nothing.\n\nSaving\n  Replay.\n\n"
            "How well it held\n  Within 5 points.\n");
}

}  // namespace
}  // namespace telltale
