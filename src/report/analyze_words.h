// The words and rows that all views of a diagnosis share, so that terminal, Markdown and page say the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "advise/diagnosis.h"
#include "report/palette.h"

namespace telltale {

// A part of a step's recorded time.
struct BreakdownRow {
  std::string category;  // "matmul", "idle_sync"; without a device the bare cause: nothing is idle then
  std::string label;     // "matmul", "sync"
  bool is_idle = false;
  Nanoseconds ns = 0;
  double percent = 0;
  Color color;
  std::string style_class;  // of the page's style sheet
};

// What is not zero: computing, then idle, each by falling time. Adds up to the recorded step.
std::vector<BreakdownRow> breakdown_rows(const Diagnosis& diagnosis);

std::string_view label_of(HostWork work);

// "train.json.gz · NVIDIA H200 · 3 steps"
std::string subject_line(const Diagnosis& diagnosis);
// "train.json.gz", or "standard input"
std::string file_label(const Diagnosis& diagnosis);
std::string file_label(const std::string& path);
// "3 steps"
std::string steps_label(const StepTiming& timing);

// What a person can repeat to a colleague.
struct Headline {
  std::string step;     // a sentence: how long a step takes
  std::string filling;  // another: what fills it; may be empty
};
Headline headline(const Diagnosis& diagnosis);
std::string headline_text(const Diagnosis& diagnosis);  // both, on one line

// What the bar of the breakdown divides: "A recorded step of 58.0 ms".
std::string breakdown_caption(const Diagnosis& diagnosis);

bool is_about_time(const Finding& finding);

// Of the unobserved step.
double saving_percent(const Diagnosis& diagnosis, Nanoseconds saving);
// "20 to 28"; one number where both ends look the same
std::string saving_range(const Diagnosis& diagnosis, const Saving& saving);

// "models/gpt2.py:312 in attend": enough of the path to know the file by.
std::string source_text(const SourceLine& source);

// "Low confidence", … when the reader must know; empty otherwise.
std::string doubt_of(const Finding& finding);

// The titles of the rules whose findings this one's fix would mend as well, as a sentence; empty when there are none.
std::string also_explains_text(const Finding& finding);

// What is said once below several findings.
inline constexpr std::string_view kSavingsOverlap =
    "Each saving is what that fix alone would buy; savings overlap and do not add up.";
inline constexpr std::string_view kNothingFound = "No rule finds anything whose fix would save time or memory.";

// "The file has 12 anomalies: telltale info lists them.", behind what a recording lacks; empty when it has none.
std::string anomaly_note(const Trace& trace);

double percent_of(Nanoseconds part, Nanoseconds whole);

}  // namespace telltale
