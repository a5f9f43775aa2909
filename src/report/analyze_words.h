// The words that all views of a diagnosis share, so that terminal, Markdown and page say the same.
#pragma once

#include <string>
#include <string_view>

#include "advise/diagnosis.h"

namespace telltale {

// "matmul", "data loading"
std::string_view label_of(WorkClass work);
std::string_view label_of(HostWork work);
std::string_view label_of(const BreakdownPart& part);

// "train.json.gz · NVIDIA H200 · 3 steps", "server.tell · 2.00 s · 3 threads · 851 × request"
std::string subject_line(const Diagnosis& diagnosis);
// "train.json.gz", or "standard input"
std::string file_label(const Diagnosis& diagnosis);
std::string file_label(const std::string& path);
// "3 steps"
std::string steps_label(const StepTiming& timing);

// What a person can repeat to a colleague.
struct Headline {
  std::string step;     // a sentence: how long a step or a request takes
  std::string filling;  // another: what fills it; may be empty
};
Headline headline(const Diagnosis& diagnosis);
std::string headline_text(const Diagnosis& diagnosis);  // both, on one line

// "recording made steps 23 % slower than the 12 that ran unrecorded", for a line of its own and, where the recorder
// paused, how much slower it made all steps of the trace together; empty where the diagnosis is not about steps.
std::string recording_cost_text(const Diagnosis& diagnosis, const Trace& trace);

// What the bar of the breakdown divides: "a step of 58.0 ms, as recorded".
std::string breakdown_caption(const Diagnosis& diagnosis);

// "20 to 28"; one number where both ends look the same
std::string saving_range(const Saving& saving);

// "frees 3.20 GiB, costs 12.0 ms": what a fix does to memory, and what it takes in time where that is known; empty
// where it frees none.
std::string memory_saving_text(const Finding& finding);

// Percent, by which recording made a step slower: less is not mentioned.
inline constexpr double kSlowdownWorthSaying = 0.5;

// "models/gpt2.py:312 in attend": enough of the path to know the file by.
std::string source_text(const SourceLine& source);

// "Low confidence", … when the reader must know; empty otherwise.
std::string doubt_of(const Finding& finding);

// The titles of what other rules found that the same change mends, as a sentence; empty when there are none.
std::string parts_text(const Finding& finding);

// The titles of the rules whose findings this one's fix would mend as well, as a sentence; empty when there are none.
std::string also_explains_text(const Finding& finding);

// What is said once below several findings.
inline constexpr std::string_view kSavingsOverlap =
    "Each saving is what that fix alone would buy; savings overlap and do not add up.";
inline constexpr std::string_view kNothingFound = "No rule found anything whose fix would save time or memory.";

// The same, and how many rules looked: "No rule found anything …; 25 rules looked and 3 could not."
std::string nothing_found_text(const Diagnosis& diagnosis);

// Which rules could not look, why, and what to record to let them; empty when all that apply could.
std::string look_text(const Look& look);

// What a reader should know before trusting the rest, as one paragraph; empty when there is nothing.
std::string remarks_text(const Diagnosis& diagnosis);

}  // namespace telltale
