#include "report/analyze_html.h"

#include <gtest/gtest.h>

#include <regex>

#include "base/text_encoding.h"
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
  const std::size_t style = rest.find("<style>"), end_of_style = rest.find("</style>");
  rest.erase(style + 7, end_of_style - style - 7);
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
  for (const char* part : {"http:", "https:", "<script", "<link", "@import", "url(", "src="}) {
    EXPECT_FALSE(has(page, part)) << part;
  }
  EXPECT_TRUE(has(page, "default-src 'none'"));
  EXPECT_TRUE(has(page, "<meta name=\"generator\" content=\"telltale\">"));
  EXPECT_TRUE(has(page, "prefers-color-scheme: dark"));
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
  for (int i = 0; i < 3000; ++i) lane.spans.push_back({{i * 300, i * 300 + 100}, WorkClass::kMatmul, 5, 77, 99});
  StripLane<HostWork> thread{0, 0, {}};
  for (int i = 0; i < 3000; ++i) thread.spans.push_back({{i * 300, i * 300 + 100}, HostWork::kPython, 5, 77, 99});
  strip.streams = {lane};
  strip.threads = {thread};
  const std::string page = page_of(sample);
  EXPECT_LT(page.size(), 2'000'000U);
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
