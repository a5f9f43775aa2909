#include "trace/step_marks.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <span>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/intervals.h"

namespace telltale {
namespace {

constexpr std::string_view kStepPrefix = "ProfilerStep#";

// A name that begins with one text and has the other behind it.
struct MarkPattern {
  MarkMaker maker;
  std::string_view prefix, part;

  bool matches(std::string_view name) const {
    return name.starts_with(prefix) && name.find(part, prefix.size()) != std::string_view::npos;
  }
};

constexpr std::array kMarkPatterns = {
    MarkPattern{MarkMaker::kTorch, kStepPrefix, ""},  // torch.profiler, Ascend's and Telltale's: ProfilerStep#7
    MarkPattern{MarkMaker::kVllm, "execute_context_", "_generation_"},  // vLLM: execute_context_2(512)_generation_3(3)
    MarkPattern{MarkMaker::kVllm, "execute_", "_context_"},     // with details: execute_64_context_0(sq0…)_generation_…
    MarkPattern{MarkMaker::kVllm, "execute_new_", "_cached_"},  // until 0.11: execute_new_1_cached_7
    MarkPattern{MarkMaker::kSglang, "step[", " bs="},           // SGLang: step[DECODE bs=32]
    MarkPattern{MarkMaker::kAtom, "prefill[bs=", ""},           // ATOM: prefill[bs=2 tok=14721 ctx=…]
    MarkPattern{MarkMaker::kAtom, "decode[bs=", ""},            // decode[bs=64 tok=64 d=64]
    MarkPattern{MarkMaker::kAtom, "eager_decode[bs=", ""},      // eager_decode[bs=3 tok=3 ctx=…]
    MarkPattern{MarkMaker::kLightning, "[pl][profile]run_training_batch", ""},          // Lightning's PyTorchProfiler
    MarkPattern{MarkMaker::kLightning, "[pl][profile][Strategy]", ".validation_step"},  // and its other loops
    MarkPattern{MarkMaker::kLightning, "[pl][profile][Strategy]", ".test_step"},
    MarkPattern{MarkMaker::kLightning, "[pl][profile][Strategy]", ".predict_step"},
    MarkPattern{MarkMaker::kParam, "[param|", "|measure|forward]"},  // PARAM: [param|op|0|0|0|measure|forward]
};

struct Mark {
  EventId event;
  Nanoseconds start, end;
};

// Marks of one maker, ascending and apart from each other.
struct MarkList {
  std::vector<Mark> marks;
  std::size_t launched = 0;  // pieces of device work
  Nanoseconds taken = 0;

  auto rank() const { return std::tuple(launched, taken); }
};

using MarksByThread = std::map<TrackId, MarkList>;

// By maker. Marks that stand within one of their own maker are passed over.
std::array<MarksByThread, kMarkMakerCount> marks_by_maker(const Trace& trace) {
  std::vector<std::optional<MarkMaker>> maker_of(trace.strings.size());
  for (StringId id = 0; id < maker_of.size(); ++id) {
    maker_of[id] = maker_of_mark(trace.strings[id]);
    if (maker_of[id] == MarkMaker::kTorch && !step_number(trace.strings[id])) maker_of[id].reset();
  }
  std::array<MarksByThread, kMarkMakerCount> marks;
  const Events& events = trace.events;
  for (EventId event = 0; event < events.size(); ++event) {
    if (events.kind[event] != Kind::kAnnotation) continue;
    const std::optional<MarkMaker> maker = maker_of[events.name[event]];
    if (!maker) continue;
    MarkList& list = marks[static_cast<std::size_t>(*maker)][events.track[event]];
    const Nanoseconds behind = list.marks.empty() ? 0 : list.marks.back().end;
    if (events.start[event] < behind && events.end(event) <= behind) continue;
    list.marks.push_back({event, events.start[event], events.end(event)});
    list.taken += events.duration[event];
  }
  return marks;
}

bool contains(const std::vector<Mark>& marks, Nanoseconds time) {
  const auto behind = std::ranges::upper_bound(marks, time, {}, &Mark::start);
  return behind != marks.begin() && time < (behind - 1)->end;
}

void count_launches(const Trace& trace, std::span<MarkList*> lists) {
  const Events& events = trace.events;
  for (EventId event = 0; event < events.size(); ++event) {
    if (!is_device_work(events.kind[event]) || events.cause[event] == kNoEvent) continue;
    const Nanoseconds launched = events.start[events.cause[event]];
    for (MarkList* list : lists) list->launched += contains(list->marks, launched) ? 1 : 0;
  }
}

bool overlap_in_time(const std::vector<Mark>& ascending) {
  for (std::size_t i = 1; i < ascending.size(); ++i)
    if (ascending[i].start < ascending[i - 1].end) return true;
  return false;
}

// What one maker's threads agree on: all marks where they take turns, else those of the thread that does the most.
MarkList of_one_maker(const Trace& trace, MarksByThread& by_thread) {
  if (by_thread.size() == 1) return std::move(by_thread.begin()->second);
  MarkList all;
  for (const auto& [thread, list] : by_thread) {
    all.marks.insert(all.marks.end(), list.marks.begin(), list.marks.end());
    all.taken += list.taken;
  }
  std::ranges::stable_sort(all.marks, {}, &Mark::start);
  if (!overlap_in_time(all.marks)) return all;
  std::vector<MarkList*> lists;
  for (auto& [thread, list] : by_thread) lists.push_back(&list);
  count_launches(trace, lists);
  return std::move(**std::ranges::max_element(lists, {}, [](const MarkList* list) { return list->rank(); }));
}

}  // namespace

std::optional<MarkMaker> maker_of_mark(std::string_view name) {
  const auto* const pattern =
      std::ranges::find_if(kMarkPatterns, [&](const MarkPattern& candidate) { return candidate.matches(name); });
  return pattern == kMarkPatterns.end() ? std::nullopt : std::optional(pattern->maker);
}

bool is_step_name(std::string_view name) { return name.starts_with(kStepPrefix); }

std::optional<std::int64_t> step_number(std::string_view name) {
  if (!is_step_name(name)) return std::nullopt;
  name.remove_prefix(kStepPrefix.size());
  std::int64_t number = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_number = parsed.ec == std::errc() && parsed.ptr == name.data() + name.size();
  return is_number && !name.starts_with('-') ? std::optional(number) : std::nullopt;
}

std::string step_name(std::int64_t number) { return std::string(kStepPrefix) + std::to_string(number); }

bool is_annotation_name(std::string_view name) {
  constexpr std::array<std::string_view, 5> kPrefixes = {kStepPrefix, "Optimizer.step#", "Optimizer.zero_grad#",
                                                         "enumerate(DataLoader)#", "[pl]["};
  return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::vector<Step> marked_steps(const Trace& trace) {
  auto by_maker = marks_by_maker(trace);
  std::vector<std::pair<MarkMaker, MarkList>> lists;
  for (std::size_t maker = 0; maker < by_maker.size(); ++maker)
    if (!by_maker[maker].empty())
      lists.emplace_back(static_cast<MarkMaker>(maker), of_one_maker(trace, by_maker[maker]));
  if (lists.empty()) return {};
  const std::pair<MarkMaker, MarkList>* chosen = &lists.front();
  if (chosen->first != MarkMaker::kTorch && lists.size() > 1) {
    std::vector<MarkList*> competing;
    for (auto& [maker, list] : lists) {
      list.launched = 0;
      competing.push_back(&list);
    }
    count_launches(trace, competing);
    chosen = &*std::ranges::max_element(
        lists, {}, [](const auto& list) { return std::pair(list.second.marks.size() > 1, list.second.rank()); });
  }
  std::vector<Step> steps;
  for (const Mark& mark : chosen->second.marks) {
    const auto number = chosen->first == MarkMaker::kTorch ? step_number(trace.name(mark.event)) : std::nullopt;
    steps.push_back(
        {number.value_or(static_cast<std::int64_t>(steps.size())), mark.event, mark.start, mark.end - mark.start});
  }
  return steps;
}

}  // namespace telltale
