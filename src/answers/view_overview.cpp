#include "answers/view_overview.h"

#include <fmt/format.h>

#include <expected>
#include <variant>

#include "advise/fix_replay.h"
#include "answers/view_colors.h"
#include "answers/view_steps.h"
#include "base/amounts.h"
#include "report/analyze_words.h"
#include "report/compact_json.h"

namespace telltale::answers {
namespace {

std::string joined(std::initializer_list<std::string> sentences) {
  std::string text;
  for (const std::string& sentence : sentences)
    if (!sentence.empty()) text += (text.empty() ? "" : " ") + sentence;
  return text;
}

FindingWords words_of(const View& view, const Finding& finding) {
  FindingWords words;
  if (is_about_time(finding)) {
    words.saving =
        fmt::format("saves {} ({})", format_time(finding.saving.likely), format_percent(finding.saving.likely_percent));
    words.range = saving_range(finding.saving) + " %";
  } else {
    words.saving = "saves no time";
  }
  if (finding.source) words.where = source_text(*finding.source);
  words.doubt = doubt_of(finding);
  words.also = joined({parts_text(finding), also_explains_text(finding)});
  words.can_be_tried = finding.edit != nullptr;
  words.why_not_tried = why_not_tried(finding);
  for (const EventId event : finding.evidence)
    if (event < view.trace->events.size()) words.places.push_back(place_of(view, event));
  return words;
}

std::string steps_text(const StepTiming& timing) {
  if (timing.source == StepSource::kWhole) return {};
  const std::int64_t first = timing.steps.front().index, last = timing.steps.back().index;
  return first == last ? std::to_string(first) : fmt::format("{}..{}", first, last);
}

// A sentence of the phrase that `telltale record` ends with.
std::string cost_sentence(const AnalyzeAnswer& analyzed) {
  if (!analyzed.diagnosis.trace.is_ours) return {};
  std::string text = recording_cost_text(analyzed.diagnosis, *analyzed.trace);
  if (text.empty()) return text;
  if (text.front() >= 'a' && text.front() <= 'z') text.front() += 'A' - 'a';
  return text + '.';
}

}  // namespace

struct HeadlineOf {
  const OverviewAnswer& answer;
};
template <typename Fields>
void describe(Fields& fields, const HeadlineOf& of) {
  fields.object("Headline", "What a person can repeat to a colleague");
  fields.member("step", of.answer.headline_step, "how long a step or a request takes");
  fields.member("filling", of.answer.headline_filling, "what fills it; may be empty");
}

struct ChosenOf {
  const OverviewAnswer& answer;
};
template <typename Fields>
void describe(Fields& fields, const ChosenOf& of) {
  fields.object("Chosen", "The steps that the numbers are about");
  fields.member("steps", of.answer.steps, "as `steps` takes them");
  fields.member("window_start_ns", of.answer.window.begin, "when the first begins on the host");
  fields.member("window_end_ns", of.answer.window.end, "when the last ends there");
}

template <typename Fields>
void describe(Fields& fields, const BarPart& part) {
  fields.object("BarPart", "A part of the recorded step");
  fields.member("word", part.word, "what the device does or waits for");
  fields.member("color", part.color, "its place among the colors");
  fields.member("ns", part.ns, "the time");
  fields.member("percent", part.percent, "of the recorded step");
  fields.member("is_idle", part.is_idle, "whether the device waits meanwhile");
}

template <typename Fields>
void describe(Fields& fields, const FindingWords& words) {
  fields.object("FindingExtra", "What the report says of a finding");
  fields.member("saving", words.saving, "what its fix buys");
  fields.member("range", words.range, "between which percentages that lies");
  fields.member("where", words.where, "the line; may be empty");
  fields.member("doubt", words.doubt, "what the reader must know; may be empty");
  fields.member("also", words.also, "what else the fix mends, as sentences; may be empty");
  fields.member("places", words.places, "its evidence");
  fields.member("can_be_tried", words.can_be_tried, "whether its fix can be replayed together with others");
  fields.member("why_not_tried", words.why_not_tried, "a sentence where it cannot; else empty");
}

template <typename Fields>
void describe(Fields& fields, const OverviewAnswer& answer) {
  fields.object("Overview", "The diagnosis in the words of the report, beside telltale.analyze/1");
  fields.member("headline", HeadlineOf{answer}, "what a person can repeat to a colleague");
  fields.member("subject", answer.subject, "what was diagnosed");
  fields.member("recording_cost", answer.recording_cost, "a sentence; may be empty, likewise below");
  fields.member("remarks", answer.remarks, "what a reader should know before trusting the rest");
  fields.member("look", answer.look, "which rules could not look, and why");
  fields.member("nothing_found", answer.nothing_found, "that there is nothing to say");
  fields.member("chosen", ChosenOf{answer}, "the steps that the numbers are about");
  fields.member("has_device", answer.analyzed->diagnosis.breakdown.has_device,
                "whether these are what a device does; else what the host does");
  fields.member("breakdown", answer.breakdown, "the parts of a recorded step");
  fields.member("findings", answer.findings, "as in analyze");
}

std::string OverviewAnswer::json() const {
  std::string text = "{\"analyze\":" + analyzed->json();
  CompactMembers members(text.append(","));
  describe(members, *this);
  return text + '}';
}

Result<OverviewAnswer> overview(const View& view, const OverviewRequest& request) {
  const auto analyzed = diagnosis_of(view, request.steps);
  if (!analyzed) return std::unexpected(analyzed.error());
  const Diagnosis& diagnosis = (*analyzed)->diagnosis;

  OverviewAnswer answer;
  answer.analyzed = *analyzed;
  Headline words = headline(diagnosis);
  answer.headline_step = std::move(words.step);
  answer.headline_filling = std::move(words.filling);
  answer.subject = subject_line(diagnosis);
  answer.recording_cost = cost_sentence(**analyzed);
  for (const std::string& remark : diagnosis.remarks) answer.remarks = joined({answer.remarks, remark});
  answer.look = look_text(diagnosis.look);
  if (diagnosis.findings.empty() && diagnosis.is_about_steps) answer.nothing_found = nothing_found_text(diagnosis);
  answer.steps = steps_text(diagnosis.timing);
  answer.window = recorded_window(view, diagnosis.timing);
  if (diagnosis.is_about_steps)
    for (const BreakdownPart& part : diagnosis.breakdown.parts())
      answer.breakdown.push_back({label_of(part), color_index(part), part.ns, part.percent, part.is_idle});
  for (const Finding& finding : diagnosis.findings) answer.findings.push_back(words_of(view, finding));
  return answer;
}

}  // namespace telltale::answers
