#include "advise/diagnosis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "advise/testing/advise_sketch.h"
#include "trace/unrecorded_steps.h"

namespace telltale {
namespace {

// Each step computes for 3 ms, waits, collects garbage for 5 ms and thinks for 2.
ProgramSketch training() {
  ProgramSketch program;
  for (int step = 0; step < 4; ++step) {
    program.begin_step();
    program.kernel({.op = "aten::mm", .name = "gemm", .duration = 3 * kMillisecond});
    program.wait();
    program.run(Kind::kPython, "<built-in function collect>", 5 * kMillisecond);
    program.run(Kind::kPython, "train.py(9): think", 2 * kMillisecond);
  }
  return program;
}

std::vector<std::string> rules_of(const Diagnosis& diagnosis) {
  std::vector<std::string> rules;
  for (const Finding& finding : diagnosis.findings) rules.push_back(finding.rule);
  return rules;
}

TEST(Diagnosis, takes_the_measured_step_where_steps_ran_unrecorded) {
  Trace trace = training().build();
  trace.metadata.emplace_back(kUnrecordedSteps,
                              R"([{"when":"before","first":2,"took_ns":[8000000,8100000,7900000,8050000,7950000]}])");
  const Diagnosis diagnosis = diagnose(trace);
  EXPECT_EQ(diagnosis.unobserved_ns, 8 * kMillisecond);
  EXPECT_EQ(diagnosis.unobserved_low_ns, 7'900'000);
  EXPECT_EQ(diagnosis.unobserved_high_ns, 8'100'000);
  EXPECT_EQ(diagnosis.unobserved_source, UnobservedSource::kMeasured);
  EXPECT_EQ(diagnosis.unrecorded_steps, 5);
  // Collecting takes half of the recorded step, of which the rule leaves a twentieth. No cost of recording explains two
  // milliseconds of such a program, so that the rest is taken from all of it alike: it is as much of the measured step.
  ASSERT_FALSE(diagnosis.findings.empty());
  EXPECT_EQ(diagnosis.findings.front().rule, "garbage_collection");
  EXPECT_NEAR(diagnosis.findings.front().saving.likely_percent, 47.5, 0.5);
}

// Steps of 10 ms, each fifth of 60: 20 on average. Those that ran unrecorded take 9 and are none of the long ones,
// which add 10 to the mean.
// 500 W: of steps of 8 ms that are 4 J, of 1,000 of them 4 kJ, 1/900 of a kilowatt-hour. As recorded they take 10 ms.
TEST(Diagnosis, has_the_energy_and_the_price_of_the_step_without_recording) {
  ProgramSketch program;
  for (int step = 0; step < 100; ++step) {
    program.begin_step();
    program.run(Kind::kOperator, "aten::mm", 10 * kMillisecond);
  }
  for (int i = 0; i <= 10; ++i) program.sketch().count("CPU: energy (J)", i * 100 * kMillisecond, 50.0 * i);
  Trace trace = program.build();
  trace.metadata.emplace_back(kUnrecordedSteps,
                              R"([{"when":"before","first":2,"took_ns":[8000000,8000000,8000000,8000000,8000000]}])");
  const Diagnosis diagnosis = diagnose(trace, {.prices = {.money = 0.9, .grams = 450}});
  ASSERT_EQ(diagnosis.unobserved_ns, 8 * kMillisecond);
  ASSERT_EQ(diagnosis.recorded_ns, 10 * kMillisecond);
  ASSERT_TRUE(diagnosis.energy && diagnosis.cost);
  EXPECT_NEAR(diagnosis.energy->joules_per_step.value(), 4, 1e-9);
  EXPECT_NEAR(diagnosis.energy->recorded_joules_per_step.value(), 5, 1e-9);
  EXPECT_NEAR(diagnosis.cost->kilowatt_hours, 1 / 900.0, 1e-12);
  EXPECT_NEAR(diagnosis.cost->money().value(), 0.001, 1e-9);
  EXPECT_NEAR(diagnosis.cost->grams().value(), 0.5, 1e-9);
}

TEST(Diagnosis, adds_rare_steps_to_the_measured_one) {
  ProgramSketch program;
  for (int step = 0; step < 20; ++step) {
    program.begin_step();
    program.run(Kind::kOperator, "aten::mm", 10 * kMillisecond);
    if (step % 5 == 4) program.run(Kind::kPython, "train.py(9): save", 50 * kMillisecond);
  }
  Trace trace = program.build();
  trace.metadata.emplace_back(kUnrecordedSteps,
                              R"([{"when":"before","first":2,"took_ns":[9000000,9000000,9000000,9000000,9000000]}])");
  EXPECT_NEAR(static_cast<double>(diagnose(trace).unobserved_ns), 19e6, 1e3);
}

// Steps of 13 ms, 3 of them kernels: unrecorded, the copy from pageable memory may well have taken 5 instead of 10.
// From pinned memory it cannot, so that steps of 8 ms are those of a host that ran ahead.
TEST(Diagnosis, believes_shorter_steps_where_the_host_makes_the_copies) {
  for (const MemorySpace from : {MemorySpace::kPageable, MemorySpace::kPinned}) {
    ProgramSketch program;
    for (int step = 0; step < 4; ++step) {
      program.begin_step();
      program.copy("aten::copy_", {100'000'000, from, MemorySpace::kDevice}, 10 * kMillisecond, true);
      program.kernel("aten::mm", 3 * kMillisecond);
      program.wait();
    }
    Trace trace = program.build();
    trace.metadata.emplace_back(kUnrecordedSteps,
                                R"([{"when":"before","first":2,"took_ns":[8000000,8000000,8000000]}])");
    const Diagnosis diagnosis = diagnose(trace);
    const bool is_measured = diagnosis.unobserved_source == UnobservedSource::kMeasured;
    EXPECT_EQ(is_measured, from == MemorySpace::kPageable);
    EXPECT_EQ(diagnosis.unobserved_ns == 8 * kMillisecond, is_measured);
  }
}

TEST(Diagnosis, does_not_take_steps_of_another_loop_for_its_own) {
  Trace trace = training().build();
  trace.metadata.emplace_back(kUnrecordedSteps,
                              R"([{"when":"before","first":2,"took_ns":[90000000,90000000,90000000]}])");
  EXPECT_EQ(diagnose(trace).unobserved_source, UnobservedSource::kEstimated);
}

// A GPU that computes for 10 ms per step, and steps that took 9 unrecorded.
Trace on_device(std::string_view unrecorded) {
  ProgramSketch program;
  for (int step = 0; step < 4; ++step) {
    program.begin_step();
    program.kernel("aten::mm", 10 * kMillisecond);
    program.wait();
  }
  Trace trace = program.build();
  trace.metadata.emplace_back(kUnrecordedSteps, unrecorded);
  return trace;
}

TEST(Diagnosis, does_not_take_steps_of_a_host_that_ran_ahead_for_shorter_than_their_device_work) {
  const Trace trace = on_device(R"([{"when":"before","first":2,"took_ns":[9000000,9000000,9000000,9000000,9000000]}])");
  EXPECT_NE(diagnose(trace).unobserved_source, UnobservedSource::kMeasured);
}

// The recorder has waited for the device behind a pause, so that nothing is missing of its steps: the device itself was
// slower while it was recorded, as clocks fall in a long recording under a power limit.
TEST(Diagnosis, believes_pauses_whose_device_work_was_waited_for) {
  const Trace trace = on_device(R"([{"when":"paused","took_ns":[9000000,9000000,9000000,9000000,9000000,9000000]}])");
  const Diagnosis diagnosis = diagnose(trace);
  EXPECT_EQ(diagnosis.unobserved_source, UnobservedSource::kMeasured);
  EXPECT_EQ(diagnosis.unobserved_ns, 9 * kMillisecond);
  EXPECT_TRUE(diagnosis.has_slower_device());
  const Trace unknown =
      on_device(R"([{"when":"paused","host_alone":true,"took_ns":[9000000,9000000,9000000,9000000,9000000,9000000]}])");
  EXPECT_NE(diagnose(unknown).unobserved_source, UnobservedSource::kMeasured);
  EXPECT_FALSE(diagnose(unknown).has_slower_device());
}

TEST(Diagnosis, knows_the_step_as_it_was_recorded_and_as_it_would_have_been) {
  Trace trace = training().build();
  trace.metadata.clear();  // recorded by torch.profiler
  const Diagnosis diagnosis = diagnose(trace);
  EXPECT_EQ(diagnosis.timing.steps.size(), 4);
  EXPECT_EQ(diagnosis.recorded_ns, 10 * kMillisecond + 7 * kMicrosecond);
  EXPECT_EQ(diagnosis.recorded_ns, diagnosis.breakdown.step);
  // Half of two calls of Python, each of which counts as 100 µs. What the launch and the wait cost hides behind the
  // kernel.
  EXPECT_EQ(diagnosis.recorded_ns - diagnosis.unobserved_ns, 2 * 50'000);
  EXPECT_NEAR(diagnosis.observer_percent(), 1, 0.005);
}

TEST(Diagnosis, knows_what_each_device_does_in_a_step) {
  const Diagnosis diagnosis = diagnose(training().build());
  ASSERT_EQ(diagnosis.devices.size(), 1);
  EXPECT_EQ(diagnosis.devices[0].id, 0);
  EXPECT_EQ(diagnosis.devices[0].busy_ns, 3 * kMillisecond);
  EXPECT_EQ(diagnosis.devices[0].busy_ns + diagnosis.devices[0].idle_ns, diagnosis.recorded_ns);
  EXPECT_EQ(diagnosis.devices[0].kernels, 1);
  EXPECT_NEAR(diagnosis.devices[0].utilization_percent(), 30, 0.1);
}

TEST(Diagnosis, names_the_rules_whose_findings_these_are_and_sorts_them_by_what_they_save) {
  const Diagnosis diagnosis = diagnose(training().build());
  const std::vector<std::string> rules = rules_of(diagnosis);
  EXPECT_NE(std::ranges::find(rules, "garbage_collection"), rules.end());
  EXPECT_NE(std::ranges::find(rules, "host_sync"), rules.end());
  EXPECT_TRUE(std::ranges::is_sorted(diagnosis.findings, std::ranges::greater{},
                                     [](const Finding& finding) { return finding.saving.likely; }));
}

// Batches of 40 ms that begin every 50 ms: they cover more than half of the trace, and are no steps all the same.
TEST(Diagnosis, is_about_threads_and_requests_where_no_framework_takes_steps) {
  const auto server = [](std::string_view more, Kind kind) {
    TraceSketch sketch;
    const TrackId worker = sketch.thread("worker"), spans = sketch.async_spans();
    for (int i = 0; i < 4; ++i) {
      sketch.event(worker, Kind::kAnnotation, "batch", i * 50 * kMillisecond, (i * 50 + 40) * kMillisecond);
      sketch.event(spans, Kind::kAsync, "request", i * 50 * kMillisecond, (i * 50 + 45) * kMillisecond);
    }
    sketch.count("depth", 0, 2);
    if (!more.empty()) sketch.event(worker, kind, more, 195 * kMillisecond, 200 * kMillisecond);
    return diagnose(sketch.build());
  };
  const Diagnosis native = server("", Kind::kOther);
  EXPECT_FALSE(native.is_about_steps);
  EXPECT_EQ(native.host.window_ns, 195 * kMillisecond) << "all of it";
  ASSERT_EQ(native.host.threads.size(), 1);
  EXPECT_EQ(native.host.threads[0].busy_ns, 160 * kMillisecond);
  ASSERT_EQ(native.latencies.size(), 2);
  EXPECT_EQ(native.latencies[0].p50_ns, 45 * kMillisecond);
  EXPECT_EQ(native.counters.size(), 1);
  EXPECT_TRUE(native.findings.empty());

  EXPECT_TRUE(server("aten::mm", Kind::kOperator).is_about_steps);
  EXPECT_TRUE(server("ProfilerStep#1", Kind::kAnnotation).is_about_steps);
}

TEST(Diagnosis, tells_what_threads_do_in_a_step) {
  const Diagnosis one = diagnose(training().build());
  ASSERT_TRUE(one.is_about_steps);
  ASSERT_FALSE(one.host.threads.empty());
  EXPECT_NEAR(static_cast<double>(one.host.window_ns), static_cast<double>(one.recorded_ns), 1);
  EXPECT_LE(one.host.threads[0].busy_ns, one.host.window_ns);
}

TEST(Diagnosis, has_what_views_show_of_the_trace) {
  Trace trace = training().build();
  trace.anomalies.add(Anomaly::kUnmatchedAsync, 0);
  const Diagnosis diagnosis = diagnose(trace);
  EXPECT_EQ(diagnosis.trace.events, trace.events.size());
  EXPECT_EQ(diagnosis.trace.duration_ns, trace.duration);
  EXPECT_EQ(diagnosis.trace.devices.size(), trace.devices.size());
  ASSERT_EQ(diagnosis.trace.anomalies.size(), 1);
  EXPECT_GT(diagnosis.strip.window.length(), 0);
  EXPECT_EQ(diagnosis.sync_rows.empty(), diagnosis.syncs.empty());
}

// Kineto ends arrows on calls that launch nothing, and recordings begin in the middle of a program.
TEST(Diagnosis, is_silent_about_what_is_normal_for_a_writer) {
  Trace trace = training().build();
  trace.anomalies.add_many(Anomaly::kFlowWithoutStart, 1172, 0, "ac2g");
  trace.anomalies.add_many(Anomaly::kDeviceWithoutLaunch, 12, 0, "gemm");
  const Diagnosis diagnosis = diagnose(trace);
  EXPECT_TRUE(diagnosis.trace.anomalies.empty());
  EXPECT_TRUE(diagnosis.remarks.empty());
}

TEST(Diagnosis, remarks_on_what_a_recording_lacks) {
  EXPECT_TRUE(diagnose(training().build()).remarks.empty());
  Trace killed;
  killed.anomalies.add(Anomaly::kUnmatchedAsync, 0);
  killed.anomalies.add(Anomaly::kUnfinishedRecording, 0, "It reaches 1.19 s");
  EXPECT_EQ(diagnose(killed).remarks,
            (std::vector<std::string>{"The recording has no end: it still goes on, or its process was killed or closed "
                                      "the file. It reaches 1.19 s.",
                                      "1 thing in the file was lost and 1 repaired: telltale info lists them."}));
}

TEST(Diagnosis, remarks_on_other_processes_that_take_the_processors) {
  ProgramSketch program = training();
  program.sketch().count("process processors", 0, 0.5);
  program.sketch().count("processors busy", 0, 1.9);
  Trace trace = program.build();
  trace.metadata.emplace_back("processors", "2");
  EXPECT_EQ(diagnose(trace).remarks,
            std::vector<std::string>{"Other processes kept 1.40 of 2 processors busy meanwhile: on an idle machine all "
                                     "of this takes less time."});
  trace.metadata.back().second = "4";
  EXPECT_TRUE(diagnose(trace).remarks.empty());
}

TEST(Diagnosis, savings_are_shares_of_the_unobserved_step) {
  const Diagnosis diagnosis = diagnose(training().build(), {.least_saving_percent = 0});
  ASSERT_FALSE(diagnosis.findings.empty());
  for (const Finding& finding : diagnosis.findings) {
    const auto step = static_cast<double>(diagnosis.unobserved_ns);
    EXPECT_DOUBLE_EQ(finding.saving.likely_percent, 100.0 * static_cast<double>(finding.saving.likely) / step);
    EXPECT_LE(finding.saving.low_percent, finding.saving.high_percent);
  }
}

TEST(Diagnosis, asks_only_the_rules_that_are_wanted) {
  const Diagnosis diagnosis = diagnose(training().build(), {.rules = {"garbage_collection"}});
  EXPECT_EQ(rules_of(diagnosis), (std::vector<std::string>{"garbage_collection"}));
  EXPECT_TRUE(diagnose(training().build(), {.rules = {"no such rule"}}).findings.empty());
}

// Freezing saves 4.75 of 10 ms.
TEST(Diagnosis, leaves_out_what_saves_less_than_is_asked_for) {
  const auto findings_from = [](double percent) {
    return diagnose(training().build(), {.rules = {"garbage_collection"}, .least_saving_percent = percent}).findings;
  };
  EXPECT_EQ(findings_from(47).size(), 1);
  EXPECT_EQ(findings_from(48).size(), 0);
}

TEST(Diagnosis, is_about_the_steps_that_are_asked_for) {
  const Diagnosis diagnosis = diagnose(training().build(), {.steps = StepRange{2, 3}});
  EXPECT_EQ(diagnosis.timing.steps.size(), 2);
  EXPECT_EQ(diagnosis.timing.steps[0].index, 2);
}

TEST(Diagnosis, shows_no_more_evidence_than_a_reader_wants) {
  ProgramSketch program;
  for (int step = 0; step < 20; ++step) {
    program.begin_step();
    program.kernel("aten::mm", 3 * kMillisecond);
    program.wait();
    program.run(Kind::kPython, "<built-in function collect>", 5 * kMillisecond);
  }
  const Diagnosis diagnosis = diagnose(program.build(), {.rules = {"garbage_collection"}});
  ASSERT_EQ(diagnosis.findings.size(), 1);
  EXPECT_EQ(diagnosis.findings[0].evidence.size(), Finding::kMaxEvidence);
}

TEST(Diagnosis, of_traces_that_lack_almost_everything_does_no_harm) {
  const Diagnosis nothing = diagnose(TraceSketch().build());
  EXPECT_EQ(nothing.recorded_ns, 0);
  EXPECT_EQ(nothing.observer_percent(), 0);
  EXPECT_FALSE(nothing.breakdown.has_device);

  TraceSketch device_only;
  device_only.event(device_only.stream(0, 7), Kind::kKernel, "gemm", 10, 20);
  const Diagnosis device = diagnose(device_only.build());
  EXPECT_EQ(device.recorded_ns, 20);
  EXPECT_TRUE(device.breakdown.has_device);

  TraceSketch marks_only;
  const TrackId main = marks_only.thread("main");
  for (const std::string name : {"ProfilerStep#1", "ProfilerStep#2"})
    marks_only.event(main, Kind::kAnnotation, name, 5, 5);
  EXPECT_EQ(diagnose(marks_only.build()).recorded_ns, 0);
}

}  // namespace
}  // namespace telltale
