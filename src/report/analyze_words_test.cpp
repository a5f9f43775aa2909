#include "report/analyze_words.h"

#include <gtest/gtest.h>

#include "advise/rule_info.h"
#include "base/amounts.h"
#include "report/testing/sample_diagnosis.h"

namespace telltale {
namespace {

TEST(Headline, says_how_long_a_step_takes_and_what_fills_it) {
  EXPECT_EQ(
      headline_text(sample_diagnosis().diagnosis),
      "A step takes 48.5 ms (58.0 ms as recorded: profiling cost 16 %). The GPU computes 71 % of the recorded step, "
      "mostly matmul; the rest it waits, mostly for the host to launch work.");
}

TEST(Headline, says_what_an_idle_device_waits_for) {
  Diagnosis diagnosis;
  diagnosis.timing.source = StepSource::kMarks;
  diagnosis.recorded_ns = diagnosis.unobserved_ns = diagnosis.breakdown.step = 100'000'000;
  diagnosis.breakdown.has_device = true;
  diagnosis.breakdown.busy[static_cast<std::size_t>(WorkClass::kConvolution)] = 23'000'000;
  diagnosis.breakdown.idle[static_cast<std::size_t>(HostWork::kDataLoading)] = 60'000'000;
  diagnosis.breakdown.idle[static_cast<std::size_t>(HostWork::kPython)] = 17'000'000;
  EXPECT_EQ(
      headline_text(diagnosis),
      "A step takes 100 ms. The GPU computes only 23 % of it; the rest it waits, mostly for the data loader (60 %).");
}

TEST(Headline, of_a_busy_device_names_its_work) {
  Diagnosis diagnosis;
  diagnosis.timing.source = StepSource::kMarks;
  diagnosis.recorded_ns = diagnosis.unobserved_ns = diagnosis.breakdown.step = 2'000'000;
  diagnosis.breakdown.has_device = true;
  diagnosis.breakdown.busy[static_cast<std::size_t>(WorkClass::kConvolution)] = 1'500'000;
  diagnosis.breakdown.busy[static_cast<std::size_t>(WorkClass::kCopy)] = 500'000;
  EXPECT_EQ(headline_text(diagnosis),
            "A step takes 2.00 ms. The GPU computes all the time, mostly convolution (75 %).");
}

TEST(Headline, without_steps_or_device_says_so) {
  EXPECT_EQ(
      headline_text(healthy_host_diagnosis().diagnosis),
      "The trace marks no steps and repeats nothing, so all of it counts as one: 10.0 ms. There is no device work in "
      "the trace: this is the time of the busiest thread, 80 % of it operators.");
}

TEST(Headline, of_an_empty_trace_is_a_sentence) {
  EXPECT_EQ(headline_text(Diagnosis()), "The trace has no time in it that could be divided.");
}

TEST(BreakdownRows, add_up_to_the_step_and_are_sorted) {
  const Diagnosis diagnosis = sample_diagnosis().diagnosis;
  const std::vector<BreakdownRow> rows = breakdown_rows(diagnosis);
  std::vector<std::string> categories;
  Nanoseconds sum = 0;
  for (const BreakdownRow& row : rows) {
    categories.push_back(row.category);
    sum += row.ns;
  }
  EXPECT_EQ(categories, (std::vector<std::string>{"matmul", "attention", "elementwise", "other", "idle_launching",
                                                  "idle_sync", "idle_data_loading"}));
  EXPECT_EQ(sum, 58'000'000);
  EXPECT_DOUBLE_EQ(rows[0].percent, 31);
}

TEST(BreakdownRows, without_a_device_are_not_idle) {
  const std::vector<BreakdownRow> rows = breakdown_rows(healthy_host_diagnosis().diagnosis);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].category, "operators");
  EXPECT_FALSE(rows[0].is_idle);
  EXPECT_EQ(rows[1].category, "python");
}

TEST(SubjectLine, names_file_devices_and_steps) {
  EXPECT_EQ(subject_line(sample_diagnosis().diagnosis), "train.json.gz · NVIDIA H200 · 3 steps");
  EXPECT_EQ(subject_line(healthy_host_diagnosis().diagnosis), "standard input · no GPU · no steps");
}

TEST(BreakdownCaption, says_which_of_several_devices_it_is_about) {
  Diagnosis diagnosis = sample_diagnosis().diagnosis;
  EXPECT_EQ(breakdown_caption(diagnosis), "a step of 58.0 ms, as recorded");
  diagnosis.devices.push_back({1, "NVIDIA H200", 0, 58'000'000, 0});
  EXPECT_EQ(breakdown_caption(diagnosis), "a step of 58.0 ms, as recorded, on GPU 0, the busiest");
  EXPECT_EQ(breakdown_caption(healthy_host_diagnosis().diagnosis), "10.0 ms of the busiest thread");
}

TEST(SavingRange, is_one_number_where_both_ends_are) {
  const Diagnosis diagnosis = sample_diagnosis().diagnosis;
  EXPECT_EQ(saving_range(diagnosis, diagnosis.findings[0].saving), "20 to 28");
  EXPECT_EQ(saving_range(diagnosis, diagnosis.findings[1].saving), "0 to 10");
  EXPECT_EQ(saving_range(diagnosis, diagnosis.findings[2].saving), "1.0");
}

TEST(SourceText, keeps_the_folder_that_tells_files_apart) {
  EXPECT_EQ(source_text({"/home/ada/gpt/models/gpt2.py", 312, "attend"}), "models/gpt2.py:312 in attend");
  EXPECT_EQ(source_text({"train.py", 31, ""}), "train.py:31");
  EXPECT_EQ(source_text({"./train.py", 0, "step"}), "train.py in step");
}

TEST(AlsoExplains, names_rules_by_their_titles) {
  Finding finding;
  EXPECT_EQ(also_explains_text(finding), "");
  ASSERT_FALSE(rule_infos().empty());
  finding.also_explains = {std::string(rule_infos().front().id), "no_such_rule"};
  EXPECT_EQ(also_explains_text(finding),
            "Also explains: " + std::string(rule_infos().front().title) + ", no_such_rule.");
}

TEST(PercentText, has_decimals_where_they_matter) {
  EXPECT_EQ(format_percent(25.4), "25 %");
  EXPECT_EQ(format_percent(9.96), "10 %");
  EXPECT_EQ(format_percent(3.21), "3.2 %");
  EXPECT_EQ(format_percent(0), "0 %");
  EXPECT_EQ(format_percent(0.01), "0.0 %");  // little, but not nothing
}

TEST(AnomalyNote, counts_what_info_lists) {
  EXPECT_EQ(anomaly_note(sample_diagnosis().trace), "The file has 1 anomaly: telltale info shows it.");
  EXPECT_EQ(anomaly_note(healthy_host_diagnosis().trace), "");
  Trace killed;
  killed.anomalies.add(Anomaly::kUnmatchedAsync, 0);
  killed.anomalies.add(Anomaly::kUnfinishedRecording, 0, "It reaches 1.19 s");
  EXPECT_EQ(anomaly_note(killed),
            "The recording has no end: it still goes on, or its process was killed. It reaches 1.19 s. The file has 2 "
            "anomalies: telltale info lists them.");
}

}  // namespace
}  // namespace telltale
