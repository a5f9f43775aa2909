#include "report/analyze_html.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "base/text_encoding.h"
#include "report/report_script.h"
#include "report/testing/sample_diagnosis.h"

namespace telltale {
namespace {

std::string page_of(const SampleDiagnosis& sample) { return analyze_html(sample.diagnosis, sample.trace); }

bool has(const std::string& page, std::string_view part) { return page.find(part) != std::string::npos; }

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

// Every element that is opened is closed in order, and every attribute is quoted. Empty when all is well.
std::string first_fault_of_markup(const std::string& page) {
  static const std::regex kTag(R"re(<(/?)([a-z0-9]+)((?: [a-zA-Z0-9-]+(?:="[^"<]*")?)*)(/?)>)re");
  std::vector<std::string> open;
  std::string rest = page.substr(page.find("<html"));
  for (const auto& [begin, end] : {std::pair("<style>", "</style>"), std::pair("<script>", "</script>")}) {
    const std::size_t inside = rest.find(begin) + std::string_view(begin).size();
    rest.erase(inside, rest.find(end, inside) - inside);
  }
  std::size_t tags = 0;
  for (std::sregex_iterator tag(rest.begin(), rest.end(), kTag), end; tag != end; ++tag, ++tags) {
    const std::string name = (*tag)[2];
    if (name == "meta" || (*tag)[4] == "/") continue;
    if ((*tag)[1] != "/") {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return "</" + name + "> closes " + (open.empty() ? "nothing" : open.back());
    } else {
      open.pop_back();
    }
  }
  if (tags != count_of(rest, "<")) return "a < that starts no tag";
  return open.empty() ? "" : open.back() + " stays open";
}

TEST(AnalyzeHtml, is_one_page_that_asks_for_nothing) {
  const std::string page = page_of(sample_diagnosis());
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  for (const char* part : {"http:", "https:", "<link", "@import", "url(", "src=", "import("}) {
    EXPECT_FALSE(has(page, part)) << part;
  }
  EXPECT_TRUE(has(page, "default-src 'none'"));
  EXPECT_TRUE(has(page, "<meta name=\"generator\" content=\"telltale\">"));
  EXPECT_TRUE(has(page, "prefers-color-scheme: dark"));
}

TEST(AnalyzeHtml, lets_a_browser_run_its_own_script_and_no_other) {
  const std::string page = page_of(sample_diagnosis());
  EXPECT_EQ(count_of(page, "<script"), 2U) << "data, and what draws them";
  EXPECT_TRUE(has(page, "<script type=\"application/json\" id=\"timeline-data\">{"));
  EXPECT_TRUE(has(page, fmt::format("<script>{}</script>", kReportScript)));
  EXPECT_TRUE(
      has(page, fmt::format("default-src 'none'; style-src 'unsafe-inline'; script-src '{}'\">", kReportScriptHash)));
}

// What the script reads.
nlohmann::json timeline_of(const std::string& page) {
  const std::string_view begin = "id=\"timeline-data\">";
  const std::size_t inside = page.find(begin) + begin.size();
  return nlohmann::json::parse(page.substr(inside, page.find("</script>", inside) - inside));
}

TEST(AnalyzeHtml, has_the_step_for_its_script) {
  const nlohmann::json data = timeline_of(page_of(sample_diagnosis()));
  EXPECT_EQ(data["window_ns"], 58'000'000);
  std::vector<std::string> kinds;
  for (const auto& lane : data["lanes"]) kinds.push_back(lane["kind"]);
  EXPECT_EQ(kinds, (std::vector<std::string>{"stream", "gaps", "thread", "calls", "calls", "calls"}));

  // The step is from 1 to 59 ms. Its kernels run from 1 to 21 and from 30 to 48 ms.
  const auto& stream = data["lanes"][0]["spans"];
  ASSERT_EQ(stream.size(), 12U);
  const auto number = [&](std::size_t at) { return stream[at].get<std::int64_t>(); };
  EXPECT_EQ((std::vector<std::int64_t>{number(0), number(1), number(4), number(5)}),
            (std::vector<std::int64_t>{0, 20'000'000, 1, 20'000'000}));
  EXPECT_EQ((std::vector<std::int64_t>{number(6), number(7), number(10), number(11)}),
            (std::vector<std::int64_t>{29'000'000, 18'000'000, 1, 18'000'000}));
  EXPECT_EQ(data["works"][stream[2].get<std::size_t>()]["label"], "matmul");
  EXPECT_EQ(data["names"][stream[3].get<std::size_t>()], "ampere_sgemm_128x64_tn");
  EXPECT_EQ(data["works"][stream[8].get<std::size_t>()]["label"], "elementwise");

  const auto& calls = data["lanes"][5]["spans"];  // the wait is called by aten::item, and that in the step
  EXPECT_EQ(data["names"][calls[3].get<std::size_t>()], "cudaStreamSynchronize");
  EXPECT_EQ(calls[0], 40'000'000);
}

TEST(AnalyzeHtml, marks_where_findings_are_in_the_step) {
  SampleDiagnosis sample = sample_diagnosis();
  // Of three steps the first is drawn. Its wait, its item and kernels of all steps.
  std::vector<EventId> waits, kernels;
  for (EventId event = 0; event < sample.trace.events.size(); ++event) {
    if (sample.trace.name(event) == "cudaStreamSynchronize" || sample.trace.name(event) == "aten::item")
      waits.push_back(event);
    if (sample.trace.events.kind[event] == Kind::kKernel) kernels.push_back(event);
  }
  sample.diagnosis.findings[1].reach = waits;
  sample.diagnosis.findings[2].reach = kernels;
  const nlohmann::json found = timeline_of(page_of(sample))["findings"];
  ASSERT_EQ(found.size(), 2U) << "the first has its evidence in another step, the last has none";
  EXPECT_EQ(found[0]["number"], 2);
  EXPECT_EQ(found[0]["title"], "The host stops for the GPU once a step");
  EXPECT_EQ(found[0]["places"], (nlohmann::json{39'000'000, 10'000'000})) << "the wait lies within the item";
  EXPECT_EQ(found[1]["places"], (nlohmann::json{0, 20'000'000, 29'000'000, 18'000'000}));
}

TEST(AnalyzeHtml, names_no_folder) {
  SampleDiagnosis sample = sample_diagnosis();
  sample.diagnosis.path = "/home/ada/secret project/train.json.gz";
  for (Finding& finding : sample.diagnosis.findings)
    finding.source = SourceLine{"/home/ada/secret project/models/gpt2.py", 312, "attend"};
  const std::string page = page_of(sample);
  EXPECT_TRUE(has(page, "train.json.gz"));
  EXPECT_TRUE(has(page, "<code>models/gpt2.py:312 in attend</code>"));
  EXPECT_FALSE(has(page, "secret project"));
  EXPECT_FALSE(has(page, "/home"));
}

TEST(AnalyzeHtml, is_well_formed) {
  EXPECT_EQ(first_fault_of_markup(page_of(sample_diagnosis())), "");
  EXPECT_EQ(first_fault_of_markup(page_of(healthy_host_diagnosis())), "");
  EXPECT_EQ(first_fault_of_markup(page_of({})), "");
}

TEST(AnalyzeHtml, has_a_section_for_everything_there_is) {
  const std::string page = page_of(sample_diagnosis());
  for (const char* id :
       {"breakdown", "findings", "strip", "modules", "kernels", "memory", "syncs", "copies", "communication"}) {
    EXPECT_TRUE(has(page, std::string("<section id=\"") + id + '"')) << id;
  }
  EXPECT_TRUE(has(page, "<h1>A step takes about 48.5 ms unprofiled (44.1 to 52.0 ms; 58.0 ms as recorded"));
  EXPECT_TRUE(has(page, "Shapes were not recorded"));
  EXPECT_TRUE(has(page, "1 thing in the file was repaired"));
}

TEST(AnalyzeHtml, leaves_out_what_there_is_not) {
  const std::string page = page_of(healthy_host_diagnosis());
  for (const char* id : {"modules", "kernels", "memory", "syncs", "copies", "communication"}) {
    EXPECT_FALSE(has(page, std::string("<section id=\"") + id + '"')) << id;
  }
  EXPECT_TRUE(has(page, "No rule found anything"));
  EXPECT_FALSE(has(page, "The GPU"));
}

TEST(AnalyzeHtml, labels_the_bar_where_it_stands) {
  const std::string page = page_of(sample_diagnosis());
  EXPECT_TRUE(has(page, "<b>matmul</b>31 %"));
  EXPECT_TRUE(has(page, "<b>launching</b>18 %"));
  EXPECT_FALSE(has(page, "<b>data loading</b>"));  // 3 %: too narrow
  EXPECT_TRUE(has(page,
                  "aria-label=\"matmul 31 %, attention 22 %, elementwise 11 %, other 7.0 %, "
                  "idle: launching 18 %, idle: sync 8.0 %, idle: data loading 3.0 %\""));
}

TEST(AnalyzeHtml, a_finding_has_saving_line_code_and_evidence) {
  const std::string page = page_of(sample_diagnosis());
  EXPECT_TRUE(has(page, "<strong>25 %</strong><span>saves 12.1 ms per step</span>"));
  EXPECT_TRUE(has(page, "<span>20 to 28 %</span>"));
  EXPECT_TRUE(has(page, "models/gpt2.py:312 in attend"));
  EXPECT_TRUE(has(page, "<span class=\"removed\">- attn = softmax(q @ k.transpose(-2, -1)) @ v</span>"));
  EXPECT_TRUE(has(page, "<span class=\"added\">+ attn = F.scaled_dot_product_attention(q, k, v)</span>"));
  EXPECT_TRUE(has(page,
                  "<th scope=\"row\">ampere_sgemm_128x64_tn</th><td class=\"n\">117 ms</td>"
                  "<td class=\"n\">20.0 ms</td>"));
  EXPECT_EQ(count_of(page, "<strong>"), 3U);  // the fourth finding saves no time
}

TEST(AnalyzeHtml, draws_the_step_to_scale) {
  const std::string page = page_of(sample_diagnosis());
  // The step is from 1 to 59 ms: the first kernel takes 20 of its 58 ms, the gap before the second begins after them.
  EXPECT_TRUE(has(page,
                  "<rect class=\"w0\" x=\"0\" y=\"0\" width=\"344.83\" height=\"100\">"
                  "<title>matmul: ampere_sgemm_128x64_tn, 20.0 ms at 0 ns</title>"));
  EXPECT_TRUE(has(page,
                  "<rect class=\"h2\" x=\"344.83\" y=\"0\" width=\"155.17\" height=\"100\">"
                  "<title>launching, 9.00 ms at 20.0 ms</title>"));
}

TEST(AnalyzeHtml, marks_the_peak_of_memory) {
  EXPECT_TRUE(has(page_of(sample_diagnosis()), "peak 3.00 GiB allocated, at 90.0 ms"));
}

TEST(AnalyzeHtml, marks_steps_in_the_curve_of_memory_where_there_are_some) {
  SampleDiagnosis sample = sample_diagnosis();
  EXPECT_TRUE(has(page_of(sample), "; lines mark the starts of steps."));
  EXPECT_TRUE(has(page_of(sample), "<line class=\"step-line\""));
  sample.diagnosis.is_about_steps = false;
  EXPECT_FALSE(has(page_of(sample), "lines mark the starts of steps"));
  EXPECT_FALSE(has(page_of(sample), "<line class=\"step-line\""));
}

TEST(AnalyzeHtml, speaks_of_devices_where_they_are_no_gpus) {
  SampleDiagnosis sample = sample_diagnosis();
  EXPECT_TRUE(has(page_of(sample), "<h3>The GPU is busy "));
  sample.diagnosis.device_word = "device";
  sample.diagnosis.findings.clear();  // whose words are the rules'
  std::string page = page_of(sample);
  page.erase(page.find("<script type"), page.find("</script>", page.find("<script type")) - page.find("<script type"));
  page.erase(page.find("<script>"));
  EXPECT_TRUE(has(page, "<h3>The device is busy "));
  EXPECT_EQ(page.find("GPU"), std::string::npos) << page.substr(page.find("GPU") - 80, 160);
}

TEST(AnalyzeHtml, nests_modules) {
  const std::string page = page_of(sample_diagnosis());
  const std::size_t parent = page.find(">GPT_0</span>"), child = page.find(">Attention_0</span>");
  ASSERT_NE(parent, std::string::npos);
  ASSERT_NE(child, std::string::npos);
  EXPECT_LT(parent, child);
  EXPECT_TRUE(has(page,
                  "<details open><summary><span class=\"module\" style=\"--depth:0\"><span class=\"label\" "
                  "title=\"GPT_0, 3 calls\">"));
}

TEST(AnalyzeHtml, folds_long_lists_of_modules) {
  SampleDiagnosis sample = sample_diagnosis();
  sample.diagnosis.modules.resize(1 + 20, sample.diagnosis.modules[1]);
  std::string page = page_of(sample);
  EXPECT_EQ(count_of(page, ">Attention_0</span>") + count_of(page, ">Linear_0</span>"), 20U);
  EXPECT_TRUE(has(page, "<span class=\"label\">4 more</span>"));

  sample.diagnosis.modules.resize(1 + 700, sample.diagnosis.modules[1]);
  page = page_of(sample);
  EXPECT_TRUE(has(page, "<span class=\"label\">684 more</span>"));
  EXPECT_TRUE(has(page, "<span class=\"label\">201 more are not shown</span>"));  // 500 are, with their parent
  EXPECT_EQ(first_fault_of_markup(page), "");
}

TEST(AnalyzeHtml, lets_no_name_be_markup) {
  SampleDiagnosis sample = sample_diagnosis("</script><img src=x> \"quoted\" \xff\x1b");
  const std::string hostile = "</title></style><img src=x>'\"\xff";
  Diagnosis& diagnosis = sample.diagnosis;
  diagnosis.path = hostile;
  diagnosis.devices[0].name = hostile;
  diagnosis.remarks = {hostile};
  diagnosis.communication.rows[0].name = hostile;
  for (ModuleTime& module : diagnosis.modules) module.name = module.path = hostile;
  for (Finding& finding : diagnosis.findings) {
    finding.title = finding.explanation = finding.fix.text = finding.fix.code = finding.rule = hostile;
    finding.source = SourceLine{hostile, 3, hostile};
    finding.also_explains = {hostile};
  }
  const std::string page = page_of(sample);
  EXPECT_FALSE(has(page, "<img"));
  EXPECT_FALSE(has(page, "\x1b"));
  EXPECT_TRUE(has(page, "&lt;img src=x&gt;"));
  EXPECT_EQ(count_of(page, "</style>"), 1U);
  EXPECT_EQ(count_of(page, "</script>"), 2U);
  EXPECT_EQ(timeline_of(page)["findings"].size(), 0U) << "of the first step: none";
  EXPECT_TRUE(is_utf8(page));
  EXPECT_EQ(first_fault_of_markup(page), "");
}

TEST(AnalyzeHtml, stays_under_two_megabytes) {
  SampleDiagnosis sample = sample_diagnosis(std::string(5000, '<'));
  Diagnosis& diagnosis = sample.diagnosis;
  diagnosis.kernels.rows.resize(20'000, diagnosis.kernels.rows.front());
  diagnosis.sync_rows.resize(20'000, diagnosis.sync_rows.front());
  diagnosis.communication.rows.resize(5000, diagnosis.communication.rows.front());
  for (Finding& finding : diagnosis.findings)
    finding.evidence.resize(Finding::kMaxEvidence, finding.evidence.empty() ? 0 : finding.evidence[0]);
  diagnosis.findings.resize(40, diagnosis.findings[0]);
  diagnosis.timing.steps.resize(20'000, diagnosis.timing.steps.front());
  const ModuleTime child = diagnosis.modules[1];
  for (int i = 0; i < 20'000; ++i) {
    diagnosis.modules.push_back(child);
    diagnosis.modules.back().name = diagnosis.modules.back().path = std::string(1000, '<');
    diagnosis.modules.back().parent = static_cast<int>(diagnosis.modules.size()) - 2;
  }
  for (int i = 0; i < 100'000; ++i) {
    diagnosis.memory->curve.push_back({200'000'000 + i, i % 7, 10});
    diagnosis.queue.points.push_back({70'000'000 + i, i % 5});
  }
  StepStrip& strip = diagnosis.strip = {};
  strip.window = {0, 1'000'000};
  StripLane<WorkClass> lane{1, 0, {}};
  for (int i = 0; i < 2000; ++i) lane.spans.push_back({{i * 300, i * 300 + 100}, WorkClass::kMatmul, 5, 77, 99});
  StripLane<HostWork> thread{0, 0, {}};
  for (int i = 0; i < 2000; ++i) thread.spans.push_back({{i * 300, i * 300 + 100}, HostWork::kPython, 5, 77, 99});
  strip.streams = {lane};
  strip.threads = {thread};
  // As many spans as there can be, all with names of their own.
  Trace& trace = sample.trace;
  StepStrip& close = diagnosis.strip_to_zoom_into = strip;
  close.window = {0, 100'000'000'000};
  for (StripLane<WorkClass>& stream : close.streams) stream.spans.clear();
  for (StripLane<HostWork>& drawn : close.threads) drawn.spans.clear();
  close.calls.resize(1);
  std::vector<EventId> everything;
  for (std::size_t i = 0; i < kStripToZoomInto.spans; ++i) {
    const auto event = static_cast<EventId>(trace.events.size());
    const Nanoseconds start = static_cast<Nanoseconds>(i) * 20'000'000;
    trace.events.start.push_back(start);
    trace.events.duration.push_back(10'000'000);
    trace.events.name.push_back(trace.strings.intern(fmt::format("{}{}", i, std::string(5000, '<'))));
    trace.events.kind.push_back(Kind::kOperator);
    everything.push_back(event);
    close.streams[0].spans.push_back({{start, start + 19'999'999}, WorkClass::kMatmul, event, 1'000'000, 19'999'998});
    close.threads[0].spans.push_back({{start, start + 19'999'999}, HostWork::kSync, event, 1'000'000, 19'999'998});
    close.calls[0].spans.push_back({{start, start + 19'999'999}, HostWork::kSync, event, 1'000'000, 19'999'998});
  }
  for (Finding& finding : diagnosis.findings) finding.reach = everything;
  const std::string page = page_of(sample);
  EXPECT_LT(page.size(), 2'000'000U);
  {
  }
  const nlohmann::json data = timeline_of(page);
  EXPECT_EQ(data["lanes"][0]["spans"].size(), 6 * kStripToZoomInto.spans);
  EXPECT_EQ(data["findings"].size(), 12U);
  EXPECT_LE(data["findings"][0]["places"].size(), 600U);
}

TEST(AnalyzeHtml, shows_requests_and_threads_of_a_server) {
  const std::string page = page_of(server_diagnosis());
  EXPECT_EQ(first_fault_of_markup(page), "");
  EXPECT_TRUE(has(page, "<h1>Each request takes 6.68 ms (p50), 13.3 ms (p99)"));
  for (const char* section : {"latencies", "threads", "counters", "strip"})
    EXPECT_TRUE(has(page, "<section id=\"" + std::string(section) + '"')) << section;
  EXPECT_FALSE(has(page, "<section id=\"breakdown\"")) << "it would divide a step";
  EXPECT_TRUE(has(page,
                  "request waits until batch starts: 3.90 ms (p50), 5.10 ms (p99). For 90 % of that time a thread "
                  "that serves is idle."));
  EXPECT_TRUE(has(page, "layer 36 · batch 2"));
  EXPECT_FALSE(has(page, "One step as it ran"));
  EXPECT_FALSE(has(page, "No rule found anything"));
}

TEST(AnalyzeHtml, leaves_requests_and_threads_out_where_a_device_computes) {
  const std::string page = page_of(sample_diagnosis());
  for (const char* section : {"latencies", "threads", "counters"})
    EXPECT_FALSE(has(page, "<section id=\"" + std::string(section) + '"')) << section;
}

}  // namespace
}  // namespace telltale
