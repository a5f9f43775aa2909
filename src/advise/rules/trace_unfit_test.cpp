#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"
#include "trace/own_recordings.h"

namespace telltale {
namespace {

constexpr std::string_view kRule = "trace_unfit";

// Steps of one kernel each that take so long.
ProgramSketch program_of(const std::vector<Nanoseconds>& steps) {
  ProgramSketch program;
  for (const Nanoseconds duration : steps) {
    program.begin_step();
    program.kernel("aten::mm", duration);
    program.wait();
  }
  return program;
}

std::string what_is_wrong(const Trace& trace) {
  const std::vector<Finding> findings = findings_of(trace, kRule);
  return findings.empty() ? "" : findings[0].explanation;
}

TEST(TraceUnfitRule, is_silent_about_steps_that_are_alike) {
  EXPECT_EQ(what_is_wrong(program_of({10 * kMillisecond, 11 * kMillisecond, 10 * kMillisecond}).build()), "");
}

TEST(TraceUnfitRule, costs_trust_and_no_time) {
  const std::vector<Finding> findings = findings_of(program_of({kMillisecond}).build(), kRule);
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].saving.high, 0);
  EXPECT_EQ(findings[0].fix.id, "other");
  EXPECT_EQ(findings[0].explanation, "Take all numbers with care: it has only one step.");
}

TEST(TraceUnfitRule, tells_of_steps_that_vary) {
  // 10 and 20 ms: each 5 from the median of 15, which is 1.4826 * 33 % = 49 %; over the root of 2 that is 35.
  EXPECT_EQ(what_is_wrong(program_of({10 * kMillisecond, 20 * kMillisecond}).build()),
            "Take all numbers with care: its 2 steps vary by 49 %.");
}

TEST(TraceUnfitRule, takes_many_steps_that_are_short_and_long_by_turns_as_they_are) {
  std::vector<Nanoseconds> steps;
  for (int i = 0; i < 6; ++i) steps.insert(steps.end(), {10 * kMillisecond, 20 * kMillisecond});
  // 49 % over the root of 12 is 14.
  EXPECT_EQ(what_is_wrong(program_of(steps).build()), "");
}

TEST(TraceUnfitRule, does_not_mind_single_steps_that_are_far_out) {
  std::vector<Nanoseconds> steps(12, 10 * kMillisecond);
  steps[4] = steps[9] = 90 * kMillisecond;
  EXPECT_EQ(what_is_wrong(program_of(steps).build()), "");
}

TEST(TraceUnfitRule, says_how_to_record_again_with_what_recorded) {
  Trace trace = program_of({kMillisecond}).build();
  EXPECT_NE(findings_of(trace, kRule).at(0).fix.code.find("prof.step()"), std::string::npos);
  EXPECT_NE(findings_of(trace, kRule).at(0).fix.code.find("ProfilerActivity.CUDA"), std::string::npos);
  trace.devices = {{0, "MTIA"}};
  EXPECT_NE(findings_of(trace, kRule).at(0).fix.code.find("ProfilerActivity.MTIA"), std::string::npos);
  trace.format = "tell";
  EXPECT_EQ(findings_of(trace, kRule).at(0).fix.code, "+ telltale record --steps 20 -- python program.py");
  // All steps that the program took have been recorded.
  trace.metadata = {{std::string(kFromStart), "\"true\""}};
  EXPECT_EQ(findings_of(trace, kRule).at(0).fix.code, "");
  trace.anomalies.add_many(Anomaly::kDroppedEvents, 800, 0, "for want of memory");
  EXPECT_EQ(findings_of(trace, kRule).at(0).fix.code, "+ telltale record --memory-limit 256M -- python program.py");
}

TEST(TraceUnfitRule, names_options_of_our_recorder_to_who_records_with_it) {
  TraceSketch server;
  const TrackId worker = server.thread("worker");
  server.event(worker, Kind::kAnnotation, "batch", 0, 10);
  server.event(worker, Kind::kAnnotation, "batch", 1000, 1500);
  server.trace().anomalies.add(Anomaly::kTruncated, 0);
  Trace trace = server.build();
  EXPECT_EQ(findings_of(trace, kRule).at(0).fix.code, "");
  EXPECT_EQ(findings_of(trace, kRule).at(0).fix.text,
            "Record again, and let the recorder finish, so that the file is whole.");
  trace.format = "tell";
  trace.anomalies.add_many(Anomaly::kDroppedEvents, 800, 0, "for want of memory");
  EXPECT_NE(findings_of(trace, kRule).at(0).fix.code.find("options.memory_limit"), std::string::npos);
}

TEST(TraceUnfitRule, tells_of_launches_without_kernels) {
  ProgramSketch dropped = program_of({10 * kMillisecond, 10 * kMillisecond});
  dropped.run(Kind::kRuntime, "cudaLaunchKernel", kMicrosecond);
  EXPECT_EQ(what_is_wrong(dropped.build()),
            "Take all numbers with care: 33 % of the launches have no kernel, so records were dropped.");

  ProgramSketch without_device;
  for (int step = 0; step < 3; ++step) {
    without_device.begin_step();
    without_device.run(Kind::kRuntime, "cudaLaunchKernel", kMillisecond);
  }
  EXPECT_EQ(what_is_wrong(without_device.build()),
            "Take all numbers with care: it has 3 kernel launches but no GPU work.");
}

TEST(TraceUnfitRule, tells_of_kernels_without_launches) {
  ProgramSketch program = program_of({kMillisecond, kMillisecond});
  for (int i = 0; i < 3; ++i)
    program.sketch().event(program.stream(), Kind::kKernel, "kernel", program.now() + i, program.now() + i + 1);
  EXPECT_EQ(what_is_wrong(program.build()),
            "Take all numbers with care: most of the GPU's work has no recorded launch (3 of 5).");
}

TEST(TraceUnfitRule, tells_of_files_that_end_in_the_middle_and_of_lost_events) {
  ProgramSketch cut = program_of({kMillisecond, kMillisecond});
  cut.sketch().trace().anomalies.add(Anomaly::kTruncated, 0);
  EXPECT_EQ(what_is_wrong(cut.build()), "Take all numbers with care: the file is cut off.");
  ProgramSketch damaged = program_of({kMillisecond, kMillisecond});
  damaged.sketch().trace().anomalies.add(Anomaly::kMalformedEvent, 0);
  damaged.sketch().trace().anomalies.add(Anomaly::kMissingTime, 0);
  EXPECT_EQ(what_is_wrong(damaged.build()), "Take all numbers with care: 2 events in the file could not be read.");
}

TEST(TraceUnfitRule, tells_of_what_the_recorder_dropped_and_of_damage) {
  ProgramSketch dropped = program_of({kMillisecond, kMillisecond});
  dropped.sketch().trace().anomalies.add_many(Anomaly::kDroppedEvents, 800, 0, "for want of memory");
  dropped.sketch().trace().anomalies.add(Anomaly::kDamagedChunk, 0);
  EXPECT_EQ(what_is_wrong(dropped.build()),
            "Take all numbers with care: the recorder dropped 800 events; parts of the file are damaged.");
}

TEST(TraceUnfitRule, tells_of_records_of_the_gpu_that_had_no_times) {
  ProgramSketch untimed = program_of({kMillisecond, kMillisecond});
  untimed.sketch().trace().anomalies.add_many(Anomaly::kUnfinishedDeviceWork, 2, 0, {});
  untimed.sketch().trace().anomalies.add(Anomaly::kUnplacedDeviceWork, 0);
  EXPECT_EQ(what_is_wrong(untimed.build()), "Take all numbers with care: 3 records of the GPU had no usable times.");
}

TEST(TraceUnfitRule, takes_a_recording_that_broke_off_as_whole_up_to_there) {
  ProgramSketch killed = program_of({kMillisecond, kMillisecond});
  killed.sketch().trace().format = "tell";
  killed.sketch().trace().anomalies.add(Anomaly::kTruncated, 0);
  killed.sketch().trace().anomalies.add(Anomaly::kUnfinishedRecording, 0);
  EXPECT_EQ(what_is_wrong(killed.build()), "");
}

TEST(TraceUnfitRule, expects_no_steps_of_a_program_without_a_framework) {
  TraceSketch server;
  const TrackId worker = server.thread("worker");
  server.event(worker, Kind::kAnnotation, "batch", 0, 10);
  server.event(worker, Kind::kAnnotation, "batch", 1000, 1500);
  EXPECT_EQ(what_is_wrong(server.build()), "");
}

TEST(TraceUnfitRule, tells_all_reasons_of_an_empty_trace) {
  EXPECT_EQ(what_is_wrong(Trace{}), "Take all numbers with care: it marks no steps, and nothing in it repeats.");
}

const RuleSample kOneStep("trace_unfit", "one step", [] { return program_of({kMillisecond}).build(); });
const RuleSample kStepsThatVary("trace_unfit", "steps that vary",
                                [] { return program_of({10 * kMillisecond, 20 * kMillisecond}).build(); });
const RuleSample kNothing("trace_unfit", "nothing", [] { return Trace{}; });
const RuleSample kOneStepInAFileOfOurs("trace_unfit", "one step, in a file of ours", [] {
  Trace trace = program_of({kMillisecond}).build();
  trace.format = "tell";
  return trace;
});
const RuleSample k1LaunchAndNoGpuWork("trace_unfit", "1 launch and no GPU work", [] {
  ProgramSketch program;
  for (int step = 0; step < 2; ++step) {
    program.begin_step();
    program.run(step < 1 ? Kind::kRuntime : Kind::kPython, step < 1 ? "cudaLaunchKernel" : "train.py(3): think",
                kMillisecond);
  }
  return program.build();
});
const RuleSample k1EventNotRead1Dropped("trace_unfit", "1 event not read, 1 dropped", [] {
  ProgramSketch program = program_of({kMillisecond, kMillisecond});
  program.sketch().trace().anomalies.add_many(Anomaly::kMalformedEvent, 1, 0, "an example");
  program.sketch().trace().anomalies.add_many(Anomaly::kDroppedEvents, 1, 0, "an example");
  return program.build();
});
const RuleSample k2LaunchesAndNoGpuWork("trace_unfit", "2 launches and no GPU work", [] {
  ProgramSketch program;
  for (int step = 0; step < 2; ++step) {
    program.begin_step();
    program.run(step < 2 ? Kind::kRuntime : Kind::kPython, step < 2 ? "cudaLaunchKernel" : "train.py(3): think",
                kMillisecond);
  }
  return program.build();
});
const RuleSample k2EventsNotRead2Dropped("trace_unfit", "2 events not read, 2 dropped", [] {
  ProgramSketch program = program_of({kMillisecond, kMillisecond});
  program.sketch().trace().anomalies.add_many(Anomaly::kMalformedEvent, 2, 0, "an example");
  program.sketch().trace().anomalies.add_many(Anomaly::kDroppedEvents, 2, 0, "an example");
  return program.build();
});
const RuleSample kCutOffWithDamage("trace_unfit", "cut off, with damage", [] {
  ProgramSketch program = program_of({kMillisecond, kMillisecond});
  program.sketch().trace().anomalies.add(Anomaly::kTruncated, 0);
  program.sketch().trace().anomalies.add(Anomaly::kDamagedChunk, 0);
  return program.build();
});
const RuleSample kLaunchesWithoutKernels("trace_unfit", "launches without kernels", [] {
  ProgramSketch program = program_of({10 * kMillisecond, 10 * kMillisecond});
  program.run(Kind::kRuntime, "cudaLaunchKernel", kMicrosecond);
  return program.build();
});
const RuleSample kKernelsWithoutLaunches("trace_unfit", "kernels without launches", [] {
  ProgramSketch program = program_of({kMillisecond, kMillisecond});
  for (int i = 0; i < 3; ++i)
    program.sketch().event(program.stream(), Kind::kKernel, "kernel", program.now() + i, program.now() + i + 1);
  return program.build();
});
const RuleSample kAServerWhoseRecorderDroppedEvents("trace_unfit", "a server whose recorder dropped events", [] {
  TraceSketch server;
  const TrackId worker = server.thread("worker");
  server.event(worker, Kind::kAnnotation, "batch", 0, 10);
  server.event(worker, Kind::kAnnotation, "batch", 1000, 1500);
  server.trace().anomalies.add_many(Anomaly::kDroppedEvents, 800, 0, "for want of memory");
  return server.build();
});

}  // namespace
}  // namespace telltale
