#include "report/testing/sample_diagnosis.h"

#include "analysis/testing/trace_sketch.h"
#include "analysis/trace_info.h"

namespace telltale {
namespace {

constexpr Nanoseconds kMillisecond = 1'000'000;

template <typename Times, typename Key>
void set(Times& times, Key key, Nanoseconds time) {
  times[static_cast<std::size_t>(key)] = time;
}

struct DrawnTrace {
  Trace trace;
  TrackId thread = 0;
  EventId kernel = kNoEvent, item = kNoEvent, wait = kNoEvent;
};

// Three steps of 58 ms, each with two kernels on the device.
DrawnTrace drawn_trace(std::string_view kernel_name) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("thread 1 (python)");
  const TrackId stream = sketch.stream(0, 7);
  TraceSketch::Handle kernel = 0, item = 0, wait = 0;
  for (int i = 0; i < 3; ++i) {
    const Nanoseconds start = i * 58 * kMillisecond;
    sketch.event(thread, Kind::kAnnotation, "ProfilerStep#" + std::to_string(i + 4), start, start + 58 * kMillisecond);
    item = sketch.op(thread, "aten::item", start + 40 * kMillisecond, start + 50 * kMillisecond);
    wait = sketch.event(thread, Kind::kRuntime, "cudaStreamSynchronize", start + 41 * kMillisecond,
                        start + 49 * kMillisecond);
    kernel = sketch.event(stream, Kind::kKernel, kernel_name, start + kMillisecond, start + 21 * kMillisecond);
    sketch.event(stream, Kind::kKernel, "vectorized_elementwise_kernel", start + 30 * kMillisecond,
                 start + 48 * kMillisecond);
  }
  sketch.trace().devices.push_back({0, "NVIDIA H200"});
  sketch.trace().duration = 174 * kMillisecond;
  sketch.trace().anomalies.add(Anomaly::kNegativeDuration, 17, "gemm");
  DrawnTrace drawn{sketch.build(), thread};
  drawn.kernel = sketch.id(kernel);
  drawn.item = sketch.id(item);
  drawn.wait = sketch.id(wait);
  return drawn;
}

StepTiming sample_timing() {
  StepTiming timing;
  timing.source = StepSource::kMarks;
  for (std::int64_t i = 0; i < 3; ++i) {
    const Nanoseconds start = i * 58 * kMillisecond;
    timing.steps.push_back({i + 4,
                            {start, start + 58 * kMillisecond},
                            {start + kMillisecond, start + 48 * kMillisecond},
                            38 * kMillisecond});
  }
  timing.host_period = timing.median = 58 * kMillisecond;
  timing.device_period = 38 * kMillisecond;
  timing.window = {kMillisecond, 117 * kMillisecond};
  timing.periods = 2;
  return timing;
}

StepBreakdown sample_breakdown(const DrawnTrace& drawn) {
  StepBreakdown breakdown;
  breakdown.has_device = true;
  breakdown.device = 0;
  breakdown.thread = drawn.thread;
  breakdown.step = 58 * kMillisecond;
  set(breakdown.busy, WorkClass::kMatmul, 17'980'000);
  set(breakdown.busy, WorkClass::kAttention, 12'760'000);
  set(breakdown.busy, WorkClass::kElementwise, 6'380'000);
  set(breakdown.busy, WorkClass::kOther, 4'060'000);
  set(breakdown.by_host_work, HostWork::kLaunching, 10'440'000);
  set(breakdown.by_host_work, HostWork::kSync, 4'640'000);
  set(breakdown.by_host_work, HostWork::kDataLoading, 1'740'000);
  for (int i = 0; i < 2; ++i) {
    const Nanoseconds start = i * 58 * kMillisecond;
    breakdown.gaps.push_back({{start + 21 * kMillisecond, start + 30 * kMillisecond}, HostWork::kLaunching});
    breakdown.gaps.push_back({{start + 48 * kMillisecond, start + 59 * kMillisecond}, HostWork::kSync, drawn.wait});
  }
  return breakdown;
}

std::vector<Finding> sample_findings(const DrawnTrace& drawn) {
  std::vector<Finding> findings(4);
  Finding& attention = findings[0];
  attention.rule = "unfused_attention";
  attention.title = "Attention runs as five kernels a layer";
  attention.explanation = "12 layers compute scores, mask, softmax and product one by one, 21.3 ms a step.";
  attention.saving = {9'700'000, 12'125'000, 13'580'000};  // 20, 25 and 28 % of 48.5 ms
  attention.confidence = Confidence::kHigh;
  attention.evidence = {drawn.kernel};
  attention.source = SourceLine{"/home/ada/gpt/models/gpt2.py", 312, "attend"};
  attention.fix = {"sdpa", "Use torch.nn.functional.scaled_dot_product_attention.",
                   "- attn = softmax(q @ k.transpose(-2, -1)) @ v\n+ attn = F.scaled_dot_product_attention(q, k, v)"};
  attention.parts = {{"unfused_norm", "Norms run in pieces", "24 norms take 3.1 ms.", {0, 485'000, 970'000}, "sdpa"}};
  attention.also_explains = {"rule_without_a_title"};

  Finding& sync = findings[1];
  sync.rule = "host_sync";
  sync.title = "The host stops for the GPU once a step";
  sync.explanation = "aten::item waits 8 ms, and the GPU then idles for 4.6 ms.";
  sync.saving = {0, 2'425'000, 4'850'000};  // 0, 5 and 10 %
  sync.confidence = Confidence::kLow;
  sync.evidence = {drawn.item, drawn.wait};
  sync.source = SourceLine{"train.py", 31, "step"};
  sync.fix = {"remove_sync", "Keep the loss on the GPU and read it every hundred steps.", ""};

  Finding& data = findings[2];
  data.rule = "data_loading";
  data.title = "The GPU waits for the data loader";
  data.explanation = "The next batch is not there in time.";
  data.saving = {485'000, 485'000, 485'000};  // 1 %
  data.fix = {"loader_workers", "Give the loader workers.", "+ DataLoader(…, num_workers=4)"};

  Finding& memory = findings[3];
  memory.rule = "memory_leak";
  memory.title = "Memory grows by 64 MiB a step";
  memory.explanation = "Each step leaves its graph alive.";
  memory.fix = {"detach", "Detach what you keep.", "- losses.append(loss)\n+ losses.append(loss.detach())"};
  return findings;
}

std::vector<ModuleTime> sample_modules() {
  std::vector<ModuleTime> modules(3);
  modules[0] = {"GPT_0", "GPT_0", ModuleTime::kNoParent, 0, 3};
  modules[0].forward_device_ns = 12 * kMillisecond;
  modules[0].backward_device_ns = 20 * kMillisecond;
  modules[1] = {"Attention_0", "GPT_0/Attention_0", 0, 1, 36};
  modules[1].forward_device_ns = modules[1].backward_device_ns = 7 * kMillisecond;
  modules[2] = {"Linear_0", "GPT_0/Linear_0", 0, 1, 36};
  modules[2].forward_device_ns = 3 * kMillisecond;
  return modules;
}

KernelSummary sample_kernels(const DrawnTrace& drawn, std::string_view kernel) {
  KernelSummary summary;
  KernelRow row;
  row.name = kernel;
  row.work = WorkClass::kMatmul;
  row.traits = {Precision::kFp32, false};
  row.calls = 3;
  row.device_ns = 20 * kMillisecond;
  row.mean_ns = 2e7;
  row.occupancy_percent = 38;
  row.roofline_percent = 61.5;
  row.example = drawn.kernel;
  summary.rows.push_back(row);
  KernelRow other;
  other.name = "vectorized_elementwise_kernel";
  other.work = WorkClass::kElementwise;
  other.calls = 3;
  other.device_ns = 18 * kMillisecond;
  other.mean_ns = 1.8e7;
  summary.rows.push_back(other);
  return summary;
}

MemorySummary sample_memory() {
  MemorySummary memory;
  memory.device = 0;
  memory.peak_allocated = 3LL << 30;
  memory.peak_reserved = 4LL << 30;
  memory.reserved_at_peak = 4LL << 30;
  memory.peak_time = 90 * kMillisecond;
  memory.step_minimum = {1LL << 30, (1LL << 30) + (64LL << 20), (1LL << 30) + (128LL << 20)};
  memory.step_peak = {2LL << 30, 3LL << 30, 2LL << 30};
  memory.growth_per_step = 64.0 * (1 << 20);
  for (int i = 0; i <= 6; ++i) {
    memory.curve.push_back({i * 29 * kMillisecond, (i % 2 == 0 ? 1LL : 2LL) << 30, 4LL << 30});
  }
  memory.curve.insert(memory.curve.begin() + 4, {90 * kMillisecond, 3LL << 30, 4LL << 30});
  return memory;
}

// With what follows from the trace and from the rest.
SampleDiagnosis completed(Trace trace, Diagnosis diagnosis) {
  diagnosis.trace = {trace.events.size(), trace.duration, {}, {}};
  for (const Device& device : trace.devices) diagnosis.trace.devices.push_back(device.name);
  for (const AnomalyCount& each : trace.anomalies.troubles())
    diagnosis.trace.anomalies.push_back({each.anomaly, each.count});
  diagnosis.sync_rows = sync_rows(trace, diagnosis.timing, diagnosis.syncs);
  const std::vector<HostWork> host_work = host_work_by_event(trace);
  diagnosis.strip = step_strip(trace, diagnosis.timing, diagnosis.breakdown, host_work);
  diagnosis.strip_to_zoom_into = step_strip(trace, diagnosis.timing, diagnosis.breakdown, host_work, kStripToZoomInto);
  for (Finding& finding : diagnosis.findings) {
    Saving& saving = finding.saving;
    saving.low_percent = percent_of(saving.low, diagnosis.unobserved_ns);
    saving.likely_percent = percent_of(saving.likely, diagnosis.unobserved_ns);
    saving.high_percent = percent_of(saving.high, diagnosis.unobserved_ns);
  }
  return {std::move(trace), std::move(diagnosis)};
}

}  // namespace

SampleDiagnosis sample_diagnosis(std::string_view kernel) {
  DrawnTrace drawn = drawn_trace(kernel);
  Diagnosis diagnosis;
  diagnosis.path = "runs/train.json.gz";
  diagnosis.timing = sample_timing();
  diagnosis.recorded_ns = 58 * kMillisecond;
  diagnosis.unobserved_ns = 48'500'000;
  diagnosis.unobserved_low_ns = 44'100'000;
  diagnosis.unobserved_high_ns = 52 * kMillisecond;
  diagnosis.unobserved_source = UnobservedSource::kEstimated;
  diagnosis.breakdown = sample_breakdown(drawn);
  diagnosis.devices = {{0, "NVIDIA H200", 41'180'000, 16'820'000, 2}};
  diagnosis.phases = {{Phase::kData, 2 * kMillisecond, 0},
                      {Phase::kForward, 20 * kMillisecond, 14 * kMillisecond},
                      {Phase::kBackward, 30 * kMillisecond, 24 * kMillisecond}};
  diagnosis.modules = sample_modules();
  diagnosis.kernels = sample_kernels(drawn, kernel);
  diagnosis.queue.points = {{kMillisecond, 4}, {20 * kMillisecond, 0}, {60 * kMillisecond, 3}};
  diagnosis.queue.mean_depth = 2.5;
  diagnosis.queue.share_empty = 0.4;
  diagnosis.syncs = {{drawn.wait, drawn.item, 8 * kMillisecond, 4 * kMillisecond}};
  diagnosis.copies.rows = {{CopyDirection::kHostToDevice, true, 2, 64.0 * (1 << 20), 6 * kMillisecond, 4 * kMillisecond,
                            kMillisecond, 11e9}};
  diagnosis.memory = sample_memory();
  diagnosis.communication = {
      0, 6 * kMillisecond, 2 * kMillisecond, {{"allreduce", 4, 1e8, 6'500'000, 2 * kMillisecond}}};
  diagnosis.findings = sample_findings(drawn);
  diagnosis.remarks = {"Shapes were not recorded, so that rules about shapes are silent.", anomaly_sentence(0, 1)};
  return completed(std::move(drawn.trace), std::move(diagnosis));
}

SampleDiagnosis healthy_host_diagnosis() {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("thread 1 (python)");
  sketch.op(thread, "aten::mm", 0, 8 * kMillisecond);
  sketch.event(thread, Kind::kPython, "train.py(3): step", 8 * kMillisecond, 10 * kMillisecond);
  Diagnosis diagnosis;
  diagnosis.path = "-";
  diagnosis.timing.steps = {{0, {0, 10 * kMillisecond}, {}, 0}};
  diagnosis.timing.window = {0, 10 * kMillisecond};
  diagnosis.timing.median = 10 * kMillisecond;
  diagnosis.recorded_ns = diagnosis.unobserved_ns = 10 * kMillisecond;
  diagnosis.breakdown.thread = thread;
  diagnosis.breakdown.step = 10 * kMillisecond;
  set(diagnosis.breakdown.by_host_work, HostWork::kOperators, 8 * kMillisecond);
  set(diagnosis.breakdown.by_host_work, HostWork::kPython, 2 * kMillisecond);
  return completed(sketch.build(), std::move(diagnosis));
}

SampleDiagnosis server_diagnosis() {
  TraceSketch sketch;
  const TrackId zero = sketch.thread("worker 0"), one = sketch.thread("worker 1"), clients = sketch.thread("clients");
  sketch.event(zero, Kind::kAnnotation, "batch", 0, 2000 * kMillisecond);
  Diagnosis diagnosis;
  diagnosis.path = "runs/server.tell";
  diagnosis.is_about_steps = false;
  diagnosis.timing.steps = {{0, {0, 2000 * kMillisecond}, {}, 0}};
  diagnosis.timing.window = {0, 2000 * kMillisecond};
  diagnosis.recorded_ns = diagnosis.unobserved_ns = 2000 * kMillisecond;
  diagnosis.breakdown.step = 2000 * kMillisecond;
  set(diagnosis.breakdown.by_host_work, HostWork::kScopes, 2000 * kMillisecond);
  diagnosis.host.window_ns = 2000 * kMillisecond;
  diagnosis.host.threads = {{zero,
                             "worker 0",
                             760 * kMillisecond,
                             {{"layer", 400, 720 * kMillisecond, 0}, {"batch", 100, 40 * kMillisecond, 0}}},
                            {one, "worker 1", 600 * kMillisecond, {{"layer", 351, 600 * kMillisecond, 0}}},
                            {clients, "clients", 4 * kMillisecond, {{"enqueue", 851, 4 * kMillisecond, 0}}}};
  SpanLatency request{"request", true, 851, 0, 6'680'000, 9'580'000, 13'300'000, 17'400'000, 5'000 * kMillisecond,
                      0,         {}};
  request.waiting = SpanWaiting{
      851, 5'000 * kMillisecond, 3'600 * kMillisecond, 3'240 * kMillisecond, 3'900'000, 5'100'000, "batch", {zero, one},
      34};
  diagnosis.latencies = {request,
                         {"batch", false, 251, 0, 2'390'000, 4'590'000, 9'680'000, 12'300'000, 676'000'000, 0, {}}};
  diagnosis.counters = {{"queue depth", "value", 1102, 0, 8, 0, 1.445}};
  return completed(sketch.build(), std::move(diagnosis));
}

}  // namespace telltale
