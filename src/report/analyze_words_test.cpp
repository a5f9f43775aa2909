#include "report/analyze_words.h"

#include <gtest/gtest.h>

#include "advise/rule_info.h"
#include "analysis/trace_info.h"
#include "base/amounts.h"
#include "report/activity_words.h"
#include "report/testing/sample_diagnosis.h"
#include "trace/unrecorded_steps.h"

namespace telltale {
namespace {

TEST(Headline, says_how_long_a_step_takes_and_what_fills_it) {
  EXPECT_EQ(headline_text(sample_diagnosis().diagnosis),
            "A step takes about 48.5 ms unprofiled (44.1 to 52.0 ms; 58.0 ms as recorded: recording made it 20 % "
            "slower). The GPU is "
            "busy 71 % of the recorded step, "
            "mostly with matmul; otherwise it waits, mostly for the host to launch work.");
}

TEST(Headline, says_what_an_idle_device_waits_for) {
  Diagnosis diagnosis;
  diagnosis.timing.source = StepSource::kMarks;
  diagnosis.recorded_ns = diagnosis.unobserved_ns = diagnosis.breakdown.step = 100'000'000;
  diagnosis.breakdown.has_device = true;
  diagnosis.breakdown.busy[static_cast<std::size_t>(WorkClass::kConvolution)] = 23'000'000;
  diagnosis.breakdown.by_host_work[static_cast<std::size_t>(HostWork::kDataLoading)] = 60'000'000;
  diagnosis.breakdown.by_host_work[static_cast<std::size_t>(HostWork::kPython)] = 17'000'000;
  EXPECT_EQ(
      headline_text(diagnosis),
      "A step takes 100 ms. The GPU is busy only 23 % of it; otherwise it waits, mostly for the data loader (60 %).");
}

TEST(Headline, of_a_busy_device_names_its_work) {
  Diagnosis diagnosis;
  diagnosis.timing.source = StepSource::kMarks;
  diagnosis.recorded_ns = diagnosis.unobserved_ns = diagnosis.breakdown.step = 2'000'000;
  diagnosis.breakdown.has_device = true;
  diagnosis.breakdown.busy[static_cast<std::size_t>(WorkClass::kConvolution)] = 1'500'000;
  diagnosis.breakdown.busy[static_cast<std::size_t>(WorkClass::kCopy)] = 500'000;
  EXPECT_EQ(headline_text(diagnosis), "A step takes 2.00 ms. The GPU is always busy, mostly with convolutions (75 %).");
}

TEST(Headline, without_steps_or_device_tells_what_the_host_does) {
  EXPECT_EQ(headline_text(healthy_host_diagnosis().diagnosis),
            "The trace marks no steps and nothing in it repeats, so it counts as one step of 10.0 ms. 80 % of it runs "
            "operators, 20 % runs Python.");
}

Diagnosis waiting_diagnosis() {
  Diagnosis diagnosis;
  diagnosis.timing.source = StepSource::kMarks;
  diagnosis.recorded_ns = diagnosis.unobserved_ns = diagnosis.breakdown.step = 20'000'000;
  diagnosis.breakdown.by_host_work[static_cast<std::size_t>(HostWork::kWaiting)] = 14'000'000;
  diagnosis.breakdown.by_host_work[static_cast<std::size_t>(HostWork::kOperators)] = 5'000'000;
  diagnosis.breakdown.by_host_work[static_cast<std::size_t>(HostWork::kPython)] = 800'000;
  diagnosis.breakdown.by_host_work[static_cast<std::size_t>(HostWork::kUnknown)] = 200'000;
  diagnosis.breakdown.longest_operator = "aten::addmm";
  HostWait sleep;
  sleep.what = WaitFor::kSleep;
  sleep.source = SourceLine{"src/train.py", 12, "throttle"};
  diagnosis.waits = {sleep};
  return diagnosis;
}

TEST(Headline, of_a_server_is_about_its_requests) {
  Diagnosis diagnosis = waiting_diagnosis();
  diagnosis.path = "serve.tell";
  Requests requests;
  requests.name = "Net";
  requests.p50_ns = 18'000'000;
  requests.p99_ns = 42'000'000;
  requests.events.resize(30);
  requests.window = {0, 2'000'000'000};
  diagnosis.requests = requests;
  EXPECT_EQ(subject_line(diagnosis), "serve.tell · CPU · 30 requests");
  EXPECT_EQ(headline_text(diagnosis),
            "A request (a call of Net) takes 18.0 ms (p50), 42.0 ms (p99) as recorded; 15 come per second. 70 % of a "
            "request waits for a sleep (train.py:12), 25 % runs operators (mostly addmm), 4.0 % runs Python.");
}

TEST(Headline, without_a_device_tells_what_is_waited_for_and_where) {
  Diagnosis diagnosis = waiting_diagnosis();
  EXPECT_EQ(
      headline_text(diagnosis),
      "A step takes 20.0 ms. 70 % of it waits for a sleep (train.py:12), 25 % runs operators (mostly addmm), 4.0 % "
      "runs Python.");
  diagnosis.waits.push_back({});
  diagnosis.recorded_ns = 25'000'000;
  EXPECT_TRUE(
      headline_text(diagnosis).ends_with("70 % of the recorded step waits, mostly for a sleep (train.py:12), 25 % runs "
                                         "operators (mostly addmm), 4.0 % runs "
                                         "Python."))
      << headline_text(diagnosis);
}

TEST(Headline, of_an_empty_trace_is_a_sentence) {
  EXPECT_EQ(headline_text(Diagnosis()), "Nothing in the trace takes any time.");
}

TEST(SubjectLine, names_file_devices_and_steps) {
  EXPECT_EQ(subject_line(sample_diagnosis().diagnosis), "train.json.gz · NVIDIA H200 · 3 steps");
  EXPECT_EQ(subject_line(healthy_host_diagnosis().diagnosis), "standard input · CPU · no steps");
}

TEST(Headline, says_over_how_many_steps_it_was_measured) {
  Diagnosis diagnosis = sample_diagnosis().diagnosis;
  diagnosis.unobserved_source = UnobservedSource::kMeasured;
  diagnosis.unrecorded_steps = 12;
  EXPECT_EQ(
      headline(diagnosis).step,
      "A step takes 48.5 ms, measured over 12 unrecorded steps (58.0 ms as recorded: recording made it 20 % slower).");
  diagnosis.unobserved_ns = 60'000'000;  // something else made the recorded steps faster
  EXPECT_EQ(headline(diagnosis).step,
            "A step takes 60.0 ms, measured over 12 unrecorded steps (58.0 ms as recorded: recording made it no "
            "slower).");
}

// The device's work alone took 57 ms per recorded step, as a limit of power made it slower.
TEST(Headline, does_not_blame_recording_for_a_slower_device) {
  Diagnosis diagnosis = sample_diagnosis().diagnosis;
  diagnosis.unobserved_source = UnobservedSource::kMeasured;
  diagnosis.unrecorded_steps = 12;
  diagnosis.timing.device_period = 57'000'000;
  EXPECT_EQ(headline(diagnosis).step,
            "A step takes 48.5 ms, measured over 12 unrecorded steps (58.0 ms as recorded, when the GPU took longer "
            "for the same work).");
  EXPECT_EQ(recording_cost_text(diagnosis, Trace()),
            "the GPU took longer for recorded steps than for the 12 that ran unrecorded, which hides what recording "
            "cost");
}

TEST(Headline, promises_no_measurement_of_our_own_recorder_where_there_was_none) {
  Diagnosis diagnosis = sample_diagnosis().diagnosis;
  diagnosis.trace.is_ours = true;
  EXPECT_EQ(headline(diagnosis).step, "A step takes 58.0 ms as recorded; what recording cost was not measured.");
}

TEST(RecordingCost, is_how_much_slower_steps_are_than_unrecorded_ones) {
  Diagnosis diagnosis = sample_diagnosis().diagnosis;
  Trace trace;
  EXPECT_EQ(recording_cost_text(diagnosis, trace),
            "what recording cost was not measured: too few steps ran unrecorded");
  diagnosis.unobserved_source = UnobservedSource::kMeasured;
  diagnosis.unrecorded_steps = 12;
  // 58.0 / 48.5 is 1.196.
  EXPECT_EQ(recording_cost_text(diagnosis, trace), "recording made steps 20 % slower than the 12 that ran unrecorded");
  // Three steps of twelve are slower by 19.6 %: 4.9 % of all.
  trace.steps.resize(3);
  trace.metadata.emplace_back(kUnrecordedSteps, R"([{"when": "paused", "took_ns": [1, 2, 3, 4, 5]},
                                                    {"when": "after", "took_ns": [1, 2]},
                                                    {"when": "paused", "took_ns": [1, 2, 3, 4]}])");
  EXPECT_EQ(recording_cost_text(diagnosis, trace),
            "recording made steps 20 % slower than the 12 that ran unrecorded, and the 12 steps together 4.9 % slower");
  diagnosis.is_about_steps = false;
  EXPECT_EQ(recording_cost_text(diagnosis, trace), "");
}

TEST(LookText, says_which_rules_could_not_look_and_what_lets_them) {
  Look look;
  look.rules = 25;
  EXPECT_EQ(look_text(look), "");
  look.blind = {{"memory_leak", "Memory that grows", {Need::kMemory}}};
  look.lacking = {Need::kMemory};
  look.remedy = "telltale record --memory";
  EXPECT_EQ(look_text(look),
            "Recorded without memory: 1 rule could not look (memory that grows). To let it look: telltale record "
            "--memory.");
  for (const char* title : {"Python that the step waits for", "A kernel far from the roofline", "CUDA graphs", "Logs"})
    look.blind.push_back({"rule", title, {Need::kStacks}});
  look.lacking = {Need::kStacks, Need::kMemory, Need::kSteps};
  look.remedy = "";
  EXPECT_EQ(look_text(look),
            "Recorded without stacks and memory, and with fewer than 3 steps: 5 rules could not look (memory that "
            "grows, Python that the step waits for, a kernel far from the roofline, CUDA graphs and 1 more).");
  look.lacking = {Need::kSteps};
  EXPECT_TRUE(look_text(look).starts_with("With fewer than 3 steps: 5 rules could not look ("));
}

TEST(NothingFound, is_no_word_of_those_that_could_not_look) {
  Diagnosis diagnosis;
  EXPECT_EQ(nothing_found_text(diagnosis), "No rule found anything whose fix would save time or memory.");
  diagnosis.look.rules = 1;
  EXPECT_EQ(nothing_found_text(diagnosis),
            "No rule found anything whose fix would save time or memory; 1 rule looked.");
  diagnosis.look.rules = 25;
  diagnosis.look.blind.resize(3);
  EXPECT_EQ(nothing_found_text(diagnosis),
            "No rule found anything whose fix would save time or memory; 25 rules looked and 3 could not.");
}

TEST(Headline, gives_the_units_of_a_range_once_where_they_are_the_same) {
  Diagnosis diagnosis = sample_diagnosis().diagnosis;
  diagnosis.unobserved_low_ns = 900'000;
  EXPECT_EQ(
      headline(diagnosis).step,
      "A step takes about 48.5 ms unprofiled (900 µs to 52.0 ms; 58.0 ms as recorded: recording made it 20 % slower).");
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
  EXPECT_EQ(saving_range(diagnosis.findings[0].saving), "20 to 28");
  EXPECT_EQ(saving_range(diagnosis.findings[1].saving), "0 to 10");
  EXPECT_EQ(saving_range(diagnosis.findings[2].saving), "1.0");
}

TEST(SourceText, keeps_the_folder_that_tells_files_apart) {
  EXPECT_EQ(source_text({"/home/ada/gpt/models/gpt2.py", 312, "attend"}), "models/gpt2.py:312 in attend");
  EXPECT_EQ(source_text({"train.py", 31, ""}), "train.py:31");
  EXPECT_EQ(source_text({"./train.py", 0, "step"}), "train.py in step");
}

TEST(Parts, are_told_by_their_titles) {
  Finding finding;
  EXPECT_EQ(parts_text(finding), "");
  finding.parts.resize(2);
  finding.parts[0].title = "The model runs one operator at a time";
  finding.parts[1].title = "Chains of small operations pass through GPU memory";
  EXPECT_EQ(
      parts_text(finding),
      "The same change helps here: The model runs one operator at a time; Chains of small operations pass through "
      "GPU memory.");
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

TEST(Remarks, are_one_paragraph) {
  EXPECT_EQ(remarks_text(sample_diagnosis().diagnosis),
            "Shapes were not recorded, so that rules about shapes are silent. 1 thing in the file was repaired: "
            "telltale info shows it.");
  EXPECT_EQ(remarks_text(Diagnosis()), "");
}

TEST(Counts, of_none_one_and_two_read_right) {
  Diagnosis diagnosis = server_diagnosis().diagnosis;
  diagnosis.host.threads.resize(2);
  const HostActivity two = diagnosis.host;
  const auto with_threads = [&](std::size_t count) {
    diagnosis.host = two;
    diagnosis.host.threads.resize(count);
    diagnosis.latencies.clear();
    return subject_line(diagnosis) + " | " + headline(diagnosis).filling;
  };
  EXPECT_EQ(with_threads(0), "server.tell · 2.00 s · 0 threads | No thread was in any scope.");
  EXPECT_EQ(with_threads(1),
            "server.tell · 2.00 s · 1 thread | Its only thread, worker 0, is busy 38 % of the time, mostly in layer.");
  EXPECT_EQ(with_threads(2),
            "server.tell · 2.00 s · 2 threads | The busiest of 2 threads, worker 0, is busy 38 % of the time, mostly "
            "in layer.");

  SampleDiagnosis sample = sample_diagnosis();
  const auto with_devices = [&](int count) {
    sample.diagnosis.devices.clear();
    for (int i = 0; i < count; ++i) sample.diagnosis.devices.push_back({i, "NVIDIA H200", 1, 1, 1});
    return subject_line(sample.diagnosis);
  };
  EXPECT_EQ(with_devices(0), "train.json.gz · CPU · 3 steps");
  EXPECT_EQ(with_devices(1), "train.json.gz · NVIDIA H200 · 3 steps");
  EXPECT_EQ(with_devices(2), "train.json.gz · 2 × NVIDIA H200 · 3 steps");

  StepTiming timing;
  timing.source = StepSource::kMarks;
  EXPECT_EQ(steps_label(timing), "0 steps");
  timing.steps.resize(1);
  EXPECT_EQ(steps_label(timing), "1 step");
  timing.steps.resize(2);
  EXPECT_EQ(steps_label(timing), "2 steps");

  EXPECT_EQ(anomaly_sentence(0, 0), "");
  EXPECT_EQ(anomaly_sentence(1, 0), "1 thing in the file was lost: telltale info shows it.");
  EXPECT_EQ(anomaly_sentence(0, 1), "1 thing in the file was repaired: telltale info shows it.");
  EXPECT_EQ(anomaly_sentence(0, 1173), "1,173 things in the file were repaired: telltale info lists them.");
  EXPECT_EQ(anomaly_sentence(1, 1), "1 thing in the file was lost and 1 repaired: telltale info lists them.");
  EXPECT_EQ(anomaly_sentence(2, 12), "2 things in the file were lost and 12 repaired: telltale info lists them.");
}

TEST(ActivityWords, the_subject_is_what_was_recorded) {
  Diagnosis diagnosis = server_diagnosis().diagnosis;
  EXPECT_EQ(subject_line(diagnosis), "server.tell · 2.00 s · 3 threads · 851 × request");
  diagnosis.latencies.clear();
  diagnosis.host.threads.resize(1);
  EXPECT_EQ(subject_line(diagnosis), "server.tell · 2.00 s · 1 thread");
}

TEST(ActivityWords, the_headline_tells_how_long_requests_take_and_wait) {
  const Headline words = headline(server_diagnosis().diagnosis);
  EXPECT_EQ(
      words.step,
      "Each request takes 6.68 ms (p50), 13.3 ms (p99); for 72 % of that it waits, mostly while a thread that could "
      "serve it is idle.");
  EXPECT_EQ(words.filling, "The 2 threads that serve are busy 34 % of the time, mostly in layer.");
}

TEST(ActivityWords, the_headline_knows_waiting_for_want_of_threads) {
  Diagnosis diagnosis = server_diagnosis().diagnosis;
  SpanWaiting& waiting = *diagnosis.latencies[0].waiting;
  waiting.beside_idle_ns = waiting.waiting_ns / 3;
  waiting.threads.resize(1);
  const Headline words = headline(diagnosis);
  EXPECT_NE(words.step.find("waits, mostly while all threads that serve are busy."), std::string::npos);
  EXPECT_EQ(words.filling, "The thread that serves, worker 0, is busy 34 % of the time, mostly in layer.");
  waiting.waiting_ns = 0;
  EXPECT_NE(headline(diagnosis).step.find("(p99); it is served immediately."), std::string::npos);
}

TEST(ActivityWords, the_headline_leaves_out_what_is_known_of_few) {
  Diagnosis diagnosis = server_diagnosis().diagnosis;
  diagnosis.latencies[0].waiting->spans = 400;
  diagnosis.latencies[0].unfinished = 12;
  const Headline words = headline(diagnosis);
  EXPECT_EQ(words.step, "Each request takes 6.68 ms (p50), 13.3 ms (p99).");
  EXPECT_EQ(words.filling,
            "The busiest of 3 threads, worker 0, is busy 38 % of the time, mostly in layer. 12 more did not end within "
            "the recording.");
}

TEST(ActivityWords, the_headline_without_requests_is_about_threads) {
  Diagnosis diagnosis = server_diagnosis().diagnosis;
  diagnosis.latencies.erase(diagnosis.latencies.begin());
  EXPECT_EQ(headline(diagnosis).step, "The recording covers 2.00 s.");
  diagnosis.host.threads.resize(1);
  EXPECT_EQ(headline(diagnosis).filling, "Its only thread, worker 0, is busy 38 % of the time, mostly in layer.");
  diagnosis.host.threads.clear();
  EXPECT_EQ(headline(diagnosis).filling, "No thread was in any scope.");
}

TEST(ActivityWords, say_what_a_thread_does_in_percent_of_the_time) {
  const HostActivity host = server_diagnosis().diagnosis.host;
  EXPECT_EQ(scopes_text(host, host.threads[0]), "layer 36 · batch 2");
  EXPECT_EQ(scopes_text(host, host.threads[2]), "") << "0.2 %";
}

TEST(ActivityWords, name_a_series_only_when_it_says_something) {
  CounterSummary counter{"memory", "reserved", 3, 1, 4, 2, 2.5};
  EXPECT_EQ(counter_cells(counter).name, "memory · reserved");
  EXPECT_EQ(counter_cells(counter).mean, "2.50");
  counter.series = "value";
  EXPECT_EQ(counter_cells(counter).name, "memory");
}

TEST(ActivityWords, count_what_is_not_shown) {
  EXPECT_EQ(more_text(kMostActivityRows, "thread"), "");
  EXPECT_EQ(more_text(kMostActivityRows + 1, "thread"), "and 1 more thread");
  EXPECT_EQ(more_text(kMostActivityRows + 2000, "thread"), "and 2,000 more threads");
}

}  // namespace
}  // namespace telltale
