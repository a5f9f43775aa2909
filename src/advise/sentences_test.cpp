// Every sentence that a rule can say, in one place, so that people read them: testing/sentences.golden has the findings
// about all samples beside the rules' tests, as they are and, where that reads differently, as part of training.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

#include "advise/rule_info.h"
#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr const char* kGolden = TELLTALE_SOURCE_DIR "/src/advise/testing/sentences.golden";

std::string text_of(const Finding& finding) {
  std::string text = finding.title + "\n  " + finding.explanation + "\n  [" + finding.fix.id + "] " + finding.fix.text;
  std::istringstream code(finding.fix.code);
  for (std::string line; std::getline(code, line);) text += "\n    " + line;
  return text + "\n";
}

// The same program with an optimizer, on a thread that does nothing else.
Trace in_training(Trace trace) {
  Track track;
  track.first_event = static_cast<EventId>(trace.events.size());
  track.event_count = 1;
  trace.tracks.push_back(track);
  trace.events.start.push_back(0);
  trace.events.duration.push_back(0);
  trace.events.name.push_back(trace.strings.intern("Optimizer.step#SGD.step"));
  trace.events.kind.push_back(Kind::kAnnotation);
  trace.events.track.push_back(static_cast<TrackId>(trace.tracks.size() - 1));
  trace.events.parent.push_back(kNoEvent);
  trace.events.cause.push_back(kNoEvent);
  return trace;
}

std::string text_of_all(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) text += text_of(finding);
  return text;
}

std::string text_of_all_samples() {
  std::string text;
  const auto add = [&](const RuleSample& sample, std::string_view kind, const std::string& said) {
    text += fmt::format("{}# {}: {}{}\n{}", text.empty() ? "" : "\n", sample.rule, sample.program, kind, said);
  };
  for (const RuleSample& sample : rule_samples()) {
    const std::string said = text_of_all(findings_of(sample.draw(), sample.rule));
    const std::string said_of_training = text_of_all(findings_of(in_training(sample.draw()), sample.rule));
    add(sample, "", said);
    if (said_of_training != said) add(sample, ", in training", said_of_training);
  }
  return text;
}

// What no sentence may say.
const std::pair<const char*, std::regex> kWrong[] = {
    {"a plural after 1",
     std::regex(R"(\b1 (?:[a-z]+ )?(?:kernels|copies|calls|chains|conversions|events|launches|steps)\b)")},
    {"a singular after another number",
     std::regex(
         R"(\b(?:0|[2-9]|[0-9.,]*[0-9]{2}|[0-9]+\.[0-9]+) (?:(?!per )[a-z]+ )?(?:kernel(?! launch)|copy|call|chain|conversion|event|launch|step)\b)")},
    {"times after one or two", std::regex(R"(\b(?:1|2|once|twice) times?\b)")},
    {"a rate without per", std::regex(R"((?:[0-9] [^ ]+|times|once|twice) a (?:step|kernel|launch|call|pass)\b)")},
    {"a instead of an", std::regex(R"(\ba (?:8|11|18|[aeio][a-z]))")},
    {"two spaces, or one before a mark", std::regex(R"(  | [.,;:](?: |$))")},
    {"two full stops", std::regex(R"(\.\.(?!\.))")},
    {"nothing of nothing", std::regex(R"(\b0 of 0\b)")},
    {"no number", std::regex(R"(\b(?:nan|inf)\b)")},
};

void expect_good_english(const std::string& text) {
  for (const auto& [what, pattern] : kWrong) EXPECT_FALSE(std::regex_search(text, pattern)) << what << ": " << text;
}

void expect_sentence(const std::string& text) {
  EXPECT_TRUE(text.ends_with('.')) << text;
  expect_good_english(text);
}

TEST(Sentences, are_those_that_have_been_read) {
  const std::string text = text_of_all_samples();
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(kGolden) << text;
  std::ifstream file(kGolden);
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, expected) << "If the new sentences are right: UPDATE_GOLDEN=1 telltale_advise_test";
}

TEST(Sentences, of_findings_are_good_english) {
  for (const RuleSample& sample : rule_samples()) {
    SCOPED_TRACE(sample.rule + ": " + sample.program);
    for (const Finding& finding : findings_of(sample.draw(), sample.rule)) {
      expect_good_english(finding.title);
      expect_sentence(finding.explanation);
      expect_sentence(finding.fix.text);
    }
  }
}

// What a program that only computes answers has nothing of. A loader may load for both.
TEST(Sentences, about_serving_have_no_words_of_training) {
  const std::regex of_training(R"(learning rate|\bloss\b|gradient|backward|[Oo]ptimizer|\btrain|DataLoader\(data,)");
  for (const RuleSample& sample : rule_samples()) {
    const KnownTrace known(sample.draw());
    if (known.facts.trains) continue;
    const std::string said = text_of_all(findings_of(known.trace, sample.rule));
    EXPECT_FALSE(std::regex_search(said, of_training)) << sample.rule << ": " << sample.program << "\n" << said;
  }
}

// The program of a sample as it would run where there is no device: without what the device did, and calls of its API.
Trace without_device(const Trace& trace) {
  TraceSketch sketch;
  std::vector<TrackId> tracks(trace.tracks.size());
  for (TrackId track = 0; track < trace.tracks.size(); ++track)
    if (trace.tracks[track].kind == TrackKind::kThread)
      tracks[track] = sketch.thread(trace.strings[trace.tracks[track].name]);
  for (EventId event = 0; event < trace.events.size(); ++event) {
    const Kind kind = trace.events.kind[event];
    if (is_on_device(kind) || is_api_call(kind) || trace.tracks[trace.events.track[event]].kind != TrackKind::kThread)
      continue;
    const auto copy = sketch.event(tracks[trace.events.track[event]], kind, trace.name(event),
                                   trace.events.start[event], trace.events.end(event));
    const OperatorTexts texts = texts_of(trace, event);
    if (!texts.shapes.empty()) sketch.set_inputs(copy, texts.shapes, texts.concrete);
  }
  sketch.trace().recorded = trace.recorded;
  sketch.trace().metadata = trace.metadata;
  return sketch.build();
}

// Nobody whose machine has no device is told of one.
TEST(Sentences, about_programs_on_a_host_have_no_words_of_devices) {
  const std::regex of_devices(
      R"(\bGPUs?\b|\bdevices?\b|[Kk]ernel|CUDA|cuda|pin_memory|[Ll]aunch|\bH2D\b|non_blocking)");
  for (const RuleSample& sample : rule_samples()) {
    for (const Trace& trace : {without_device(sample.draw()), in_training(without_device(sample.draw()))}) {
      const Diagnosis diagnosis = diagnose(trace);
      ASSERT_FALSE(diagnosis.breakdown.has_device);
      const std::string said = text_of_all(diagnosis.findings);
      EXPECT_FALSE(std::regex_search(said, of_devices)) << sample.rule << ": " << sample.program << "\n" << said;
      for (const std::string& remark : diagnosis.remarks) EXPECT_FALSE(std::regex_search(remark, of_devices)) << remark;
    }
  }
}

TEST(Sentences, about_rules_are_good_english) {
  for (const RuleInfo& info : rule_infos()) {
    SCOPED_TRACE(info.id);
    expect_good_english(info.title);
    for (const std::string& text : {info.looks_for, info.needs, info.saving, info.held}) expect_sentence(text);
  }
}

TEST(Sentences, are_known_of_every_rule_and_of_every_fix_that_it_proposes) {
  std::set<std::pair<std::string, std::string>> proposed, announced;
  for (const RuleSample& sample : rule_samples()) {
    const std::vector<Finding> findings = findings_of(sample.draw(), sample.rule);
    EXPECT_EQ(findings.size(), 1) << sample.rule << ": " << sample.program;
    for (const Finding& finding : findings) proposed.emplace(sample.rule, finding.fix.id);
  }
  for (const RuleInfo& info : rule_infos())
    for (const std::string_view fix : info.fixes) announced.emplace(info.id, fix);
  EXPECT_EQ(proposed, announced);
}

TEST(FixIds, are_those_that_rules_propose) {
  std::set<std::string_view> proposed;
  for (const RuleInfo& info : rule_infos()) proposed.insert(info.fixes.begin(), info.fixes.end());
  EXPECT_EQ(proposed, std::set<std::string_view>(kFixIds.begin(), kFixIds.end()));
}

}  // namespace
}  // namespace telltale
