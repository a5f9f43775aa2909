// Many small copies one after another, each of which costs a call, where one would do.
#include <fmt/format.h>

#include <algorithm>

#include "advise/patterns/host_calls.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// Below this a copy's cost is its call: it takes no longer on the bus than the call takes to make it.
constexpr std::int64_t kKibibytesOfLarge = 64;
// Fewer copies per step are not worth the packing.
constexpr double kLeastSavedCopies = 10;
// Copies with more launches than these between them belong to different places of the program.
constexpr std::size_t kMostLaunchesBetween = 2;
// What it takes the host to pack a tensor and to take it out again: two operators that move next to nothing.
constexpr double kPackingCost = 5'000;
constexpr double kUncertainty = 0.4;

struct SmallCopy {
  EventId launch, copy;
  CopyDirection direction;
};

// In the order of their calls.
std::vector<SmallCopy> small_copies(const Facts& facts) {
  std::vector<SmallCopy> copies;
  for (const CopyCall& call : facts.diagnosis.copies.calls) {
    const bool is_wanted =
        call.direction == CopyDirection::kHostToDevice || call.direction == CopyDirection::kDeviceToHost;
    const EventId launch = facts.trace.launch_of(call.event);
    if (is_wanted && launch != kNoEvent && call.bytes > 0 && call.bytes < kKibibytesOfLarge * 1024)
      copies.push_back({launch, call.event, call.direction});
  }
  std::ranges::stable_sort(copies, {}, &SmallCopy::launch);
  return copies;
}

// A number that Python asks for, one at a time: that is a wait before all, and what follows may depend on it.
bool is_of_one_number(const Trace& trace, EventId launch) {
  const EventId op = trace.ancestor(launch, Kind::kOperator);
  return op != kNoEvent && trace.name(op) == "aten::_local_scalar_dense";
}

bool can_be_packed(const Facts& facts, const SmallCopy& first, const SmallCopy& second) {
  const Events& events = facts.trace.events;
  if (first.direction != second.direction || events.track[first.launch] != events.track[second.launch]) return false;
  if (facts.trace.step_of(first.launch) != facts.trace.step_of(second.launch)) return false;
  return facts.launched.of_range(first.launch + 1, second.launch).size() <= kMostLaunchesBetween;
}

// The copies of rows that can be packed into one each.
struct Rows {
  std::vector<EventId> calls;   // that make the copies but for the first of each row
  std::vector<EventId> copies;  // all of them
  double bytes = 0;
};

Rows rows_of(const Facts& facts) {
  std::vector<SmallCopy> copies = small_copies(facts);
  std::erase_if(copies, [&](const SmallCopy& copy) { return is_of_one_number(facts.trace, copy.launch); });
  Rows rows;
  bool is_in_row = false;
  const auto add = [&](const SmallCopy& copy) {
    rows.copies.push_back(copy.copy);
    rows.bytes += static_cast<double>(facts.trace.copies.find(copy.copy)->bytes);
  };
  for (std::size_t i = 1; i < copies.size(); ++i) {
    const bool goes_on = can_be_packed(facts, copies[i - 1], copies[i]);
    if (goes_on && !is_in_row) add(copies[i - 1]);
    if (goes_on) {
      add(copies[i]);
      rows.calls.push_back(copying_call(facts.trace, copies[i].launch));
    }
    is_in_row = goes_on;
  }
  return rows;
}

std::vector<Finding> find(const Facts& facts) {
  const Rows rows = rows_of(facts);
  const double spared = static_cast<double>(rows.calls.size()) / facts.steps();
  if (spared < kLeastSavedCopies) return {};
  Edit edit = facts.unobserved;
  for (const EventId call : rows.calls) edit.scale_subtree(facts.trace, facts.launched, call, 0, 0);
  edit.added_host_ns += static_cast<Nanoseconds>(kPackingCost * spared);
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};

  const double per_step = static_cast<double>(rows.copies.size()) / facts.steps();
  Finding finding;
  finding.title = fmt::format("{} per step, one at a time", counted(per_step, "small copy", "small copies"));
  finding.explanation = fmt::format(
      "{} per step, {} each on average, directly follow one another; each costs a call, and their size hardly matters.",
      counted(per_step, "copy", "copies"), format_bytes(rows.bytes / static_cast<double>(rows.copies.size())));
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(edit);
  finding.reach = changed_by(facts, edit);
  finding.confidence = Confidence::kMedium;
  finding.evidence = rows.copies;
  finding.source = source_line(facts.trace, rows.copies.front());
  finding.fix = {"pack_copies",
                 "Pack the tensors into one where they come from, copy that once, and split it on the other side.",
                 "- features = [feature.to(device) for feature in features]\n"
                 "+ features = torch.stack(features).to(device).unbind()"};
  return {finding};
}

}  // namespace

Rule rules::small_copies() {
  return {{.title = "Many small copies",
           .looks_for = fmt::format("Copies of less than {} KiB between host and GPU with next to nothing launched in "
                                    "between, where packing would save {} copies per step or more.",
                                    kKibibytesOfLarge, kLeastSavedCopies),
           .needs = "CPU and CUDA activities; stacks for the source line.",
           .cannot_do_without = {{Need::kDevice}},
           .saving = fmt::format("The steps are replayed with only the first of the copies that follow one another; in "
                                 "place of the other calls, each tensor costs the host {} µs for packing.",
                                 kPackingCost / 1000),
           .held = "Predicted and measured savings, in percent of the step: 25 and 21 (many_small_copies).",
           .fixes = {"pack_copies"}},
          find};
}

}  // namespace telltale
