// What every finding about every real trace keeps to.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "advise/diagnosis.h"
#include "advise/rule_info.h"
#include "traces.h"

namespace telltale {
namespace {

constexpr std::size_t kLongestTitle = 60;

std::size_t characters_in(std::string_view utf8) {
  return static_cast<std::size_t>(std::ranges::count_if(utf8, [](char c) { return (c & 0xC0) != 0x80; }));
}

bool is_rule(std::string_view id) { return std::ranges::find(rule_infos(), id, &RuleInfo::id) != rule_infos().end(); }

bool may_propose(std::string_view rule, std::string_view fix) {
  return std::ranges::any_of(rule_infos(), [&](const RuleInfo& info) {
    return info.id == rule && std::ranges::find(info.fixes, fix) != info.fixes.end();
  });
}

bool is_sentence(std::string_view text) {
  return text.ends_with('.') && text.find("  ") == std::string_view::npos &&
         text.find("nan ") == std::string_view::npos && text.find("inf ") == std::string_view::npos;
}

void expect_good_saving(const Finding& finding, Nanoseconds step) {
  EXPECT_GE(finding.saving.low, 0);
  EXPECT_LE(finding.saving.low, finding.saving.likely);
  EXPECT_LE(finding.saving.likely, finding.saving.high);
  EXPECT_LE(finding.saving.high, step);
}

void expect_good_evidence(const Finding& finding, const Trace& trace) {
  if (finding.saving.likely > 0) {
    EXPECT_FALSE(finding.evidence.empty());
    EXPECT_EQ(finding.source.has_value(), trace.recorded.stacks) << "a line wherever stacks were recorded";
  }
  EXPECT_LE(finding.evidence.size(), Finding::kMaxEvidence);
  const std::set<EventId> distinct(finding.evidence.begin(), finding.evidence.end());
  EXPECT_EQ(distinct.size(), finding.evidence.size()) << "each event is shown once";
  for (const EventId event : finding.evidence) EXPECT_LT(event, trace.events.size());
}

void expect_good_texts(const Finding& finding) {
  EXPECT_FALSE(finding.title.empty());
  EXPECT_LE(characters_in(finding.title), kLongestTitle) << finding.title;
  EXPECT_FALSE(finding.title.ends_with('.')) << finding.title;
  EXPECT_TRUE(is_sentence(finding.explanation)) << finding.explanation;
  EXPECT_TRUE(is_sentence(finding.fix.text)) << finding.fix.text;
  EXPECT_FALSE(finding.fix.code.empty());
  if (finding.source) {
    EXPECT_FALSE(finding.source->file.empty());
    EXPECT_GE(finding.source->line, 0);
  }
}

class FindingsOfRealTraces : public testing::Test {
 protected:
  template <typename Check>
  static void for_each_diagnosis(Check check) {
    for (const std::filesystem::path& path : real_traces()) {
      SCOPED_TRACE(path.filename().string());
      const Trace trace = trace_of(path);
      check(diagnose(trace), trace);
    }
  }
};

TEST_F(FindingsOfRealTraces, name_their_rule_and_a_fix_of_the_vocabulary) {
  for_each_diagnosis([](const Diagnosis& diagnosis, const Trace&) {
    std::set<std::string> fixes;
    for (const Finding& finding : diagnosis.findings) {
      SCOPED_TRACE(finding.rule);
      EXPECT_TRUE(is_rule(finding.rule));
      EXPECT_NE(std::ranges::find(kFixIds, finding.fix.id), kFixIds.end()) << finding.fix.id;
      EXPECT_TRUE(may_propose(finding.rule, finding.fix.id)) << finding.fix.id;
      if (finding.saving.likely > 0) {
        const std::string change = is_one_change(finding.fix.id, "compile") ? "compile" : finding.fix.id;
        EXPECT_TRUE(fixes.insert(change).second) << finding.fix.id << " twice";
      }
      for (const FindingPart& part : finding.parts) {
        EXPECT_TRUE(may_propose(part.rule, part.fix_id)) << part.rule << ", " << part.fix_id;
        EXPECT_TRUE(is_one_change(finding.fix.id, part.fix_id)) << part.fix_id;
        EXPECT_LE(part.saving.likely, finding.saving.likely) << part.rule;
      }
      for (const std::string& other : finding.also_explains) {
        EXPECT_TRUE(is_rule(other)) << other;
        EXPECT_NE(other, finding.rule);
      }
    }
  });
}

TEST_F(FindingsOfRealTraces, promise_a_range_within_the_step_and_show_events_that_exist) {
  for_each_diagnosis([](const Diagnosis& diagnosis, const Trace& trace) {
    for (const Finding& finding : diagnosis.findings) {
      SCOPED_TRACE(finding.rule);
      expect_good_saving(finding, diagnosis.unobserved_ns);
      expect_good_evidence(finding, trace);
    }
  });
}

TEST_F(FindingsOfRealTraces, are_written_as_people_read_them) {
  for_each_diagnosis([](const Diagnosis& diagnosis, const Trace&) {
    for (const Finding& finding : diagnosis.findings) {
      SCOPED_TRACE(finding.rule);
      expect_good_texts(finding);
    }
  });
}

TEST_F(FindingsOfRealTraces, come_by_what_they_save_and_save_at_least_a_percent_or_no_time) {
  for_each_diagnosis([](const Diagnosis& diagnosis, const Trace&) {
    EXPECT_TRUE(std::ranges::is_sorted(diagnosis.findings, std::ranges::greater{},
                                       [](const Finding& finding) { return finding.saving.likely; }));
    for (const Finding& finding : diagnosis.findings)
      EXPECT_TRUE(finding.saving.likely == 0 || finding.saving.likely * 100 >= diagnosis.unobserved_ns - 100)
          << finding.rule;
  });
}

TEST_F(FindingsOfRealTraces, rest_on_a_breakdown_that_adds_up_to_the_step) {
  for_each_diagnosis([](const Diagnosis& diagnosis, const Trace&) {
    const auto& [busy, idle] = std::tie(diagnosis.breakdown.busy, diagnosis.breakdown.by_host_work);
    EXPECT_EQ(std::accumulate(busy.begin(), busy.end(), Nanoseconds{0}) +
                  std::accumulate(idle.begin(), idle.end(), Nanoseconds{0}),
              diagnosis.recorded_ns);
    EXPECT_GT(diagnosis.unobserved_ns, 0);
    if (diagnosis.unobserved_source != UnobservedSource::kMeasured) {
      EXPECT_LE(diagnosis.unobserved_ns, diagnosis.recorded_ns);
    }
  });
}

}  // namespace
}  // namespace telltale
