// What the answers about an opened trace keep for the next ones.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/line_times.h"
#include "analysis/memory_map.h"
#include "analysis/phases.h"
#include "analysis/step_timing.h"
#include "answers/analyze.h"
#include "answers/full_table.h"
#include "answers/held_memory.h"
#include "answers/kept_answers.h"
#include "answers/unpaused.h"
#include "answers/view_search.h"
#include "base/error.h"
#include "memory/memory_uses.h"

namespace telltale::answers {

// What was asked for as `steps`; nothing: those that analyze takes.
using StepsText = std::optional<std::string>;

// The steps that an answer is about.
struct ChosenSteps {
  std::shared_ptr<const Trace> trace;  // without the recorder's pauses; events have the ids that they always have
  StepTiming timing;
};

// Which table.
struct TableKey {
  std::string rows, group;
  StepsText steps;
  bool operator==(const TableKey&) const = default;
};

// In which order, and which of its rows.
struct OrderKey {
  TableKey table;
  std::size_t column = 0;
  bool is_falling = true;
  std::string filter;
  bool operator==(const OrderKey&) const = default;
};

// Which flame graph.
struct FlameKey {
  std::string weight, by, order;
  StepsText steps;
  bool operator==(const FlameKey&) const = default;
};

struct ViewKept {
  KeptAnswers<int, UnpausedTrace> unpaused{1};
  KeptAnswers<StepsText, Result<ChosenSteps>> steps{8};
  KeptAnswers<StepsText, Result<AnalyzeAnswer>> diagnoses{4};
  KeptAnswers<StepsText, Result<LineTimes>> lines{4};
  KeptAnswers<TableKey, Result<FullTable>> tables{8};
  KeptAnswers<OrderKey, RowOrder> orders{16};
  KeptAnswers<SearchKey, KeptSearch> searches{4};
  KeptAnswers<FlameKey, std::string> flames{8};  // as JSON
  KeptAnswers<int, std::vector<DeviceMemory>> memory{1};
  KeptAnswers<int, std::vector<Phase>> phases{1};  // by event
  KeptAnswers<DeviceId, std::vector<UsedBlock>> used_blocks{2};
  KeptAnswers<int, Result<HeldMemoryAnswer>> memory_report{1};
};

}  // namespace telltale::answers
