#include "advise/patterns/epoch_seams.h"

#include <algorithm>
#include <set>

#include "analysis/names_where.h"
#include "replay/edit.h"
#include "trace/loader_facts.h"

namespace telltale {
namespace {

struct Call {
  EventId event = kNoEvent;
  EventId start = kNoEvent;  // of workers, that it is or contains
  int batches = 0;           // that it asks for
};

std::vector<Call> calls_with_contents(const Trace& trace, std::vector<EventId> events) {
  const std::vector<bool> is_start = names_where(trace, [](std::string_view name) { return name == kStartOfWorkers; });
  const std::vector<bool> is_batch =
      names_where(trace, [](std::string_view name) { return name.starts_with("enumerate(DataLoader)"); });
  std::ranges::sort(events);
  std::vector<Call> calls;
  for (const EventId event : events) {
    Call call{.event = event};
    const EventId end = subtree_end(trace, event);
    for (EventId inner = event; inner < end; ++inner) {
      if (is_start[trace.events.name[inner]]) call.start = inner;
      if (is_batch[trace.events.name[inner]]) ++call.batches;
    }
    calls.push_back(call);
  }
  return calls;
}

EpochSeam seam_at(const Trace& trace, const std::vector<Call>& calls, std::size_t start) {
  const auto is_near = [&](std::size_t i) {
    return trace.events.track[calls[i].event] == trace.events.track[calls[start].event] && calls[i].start == kNoEvent;
  };
  EpochSeam seam{.start = calls[start].start};
  std::size_t first = start, last = start;
  while (first > 0 && is_near(first - 1) && calls[first].batches == 0) --first;
  while (last + 1 < calls.size() && is_near(last + 1) && calls[last].batches == 0) ++last;
  // Where no epoch is seen before or behind it, what stands there belongs to something else.
  if (first < start && calls[first].batches > 0)
    seam.last_call = calls[first].event;
  else
    first = start;
  if (last > start && calls[last].batches > 0)
    seam.first_call = calls[last].event;
  else
    last = start;
  for (std::size_t i = first; i <= last; ++i)
    if (calls[i].event != seam.last_call && calls[i].event != seam.first_call) seam.between.push_back(calls[i].event);
  return seam;
}

}  // namespace

LoaderCalls loader_calls(const Trace& trace, const std::vector<EventId>& events) {
  const std::vector<Call> calls = calls_with_contents(trace, events);
  LoaderCalls found;
  std::set<EventId> at_seams;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].start == kNoEvent) continue;
    found.seams.push_back(seam_at(trace, calls, i));
    const EpochSeam& seam = found.seams.back();
    at_seams.insert(seam.between.begin(), seam.between.end());
    for (const EventId call : {seam.last_call, seam.first_call})
      if (call != kNoEvent) at_seams.insert(call);
  }
  std::ranges::copy_if(events, std::back_inserter(found.steady),
                       [&](EventId event) { return !at_seams.contains(event); });
  for (const Call& call : calls)
    if (!at_seams.contains(call.event)) found.batches += call.batches;
  // Other recorders do not mark them.
  if (found.batches == 0) found.batches = static_cast<double>(found.steady.size());
  return found;
}

}  // namespace telltale
