#include "answers/view_event.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "report/compact_json.h"
#include "report/result_fields.h"
#include "timeline/event_stack.h"

namespace telltale {

template <typename Fields>
void describe(Fields& fields, const EventFact& fact) {
  fields.object("Fact", "What the trace says of an event");
  fields.member("name", fact.name, "of what");
  fields.member("value", fact.value, "with its unit");
}

}  // namespace telltale

namespace telltale::answers {

template <typename Fields>
void describe(Fields& fields, const ViewRelation& relation) {
  fields.object("Relation", "What an event has to do with another");
  fields.member("role", relation.link.role, "what the other one is to it");
  fields.member("direction", std::string_view(relation.link.is_cause ? "cause" : "effect"), "which came of which");
  fields.member("event", relation.place, "the other one");
}

template <typename Fields>
void describe(Fields& fields, const ViewEventAnswer& answer) {
  fields.object("EventDetails", "All about one event");
  fields.member("event", answer.event, "where it is");
  fields.member("full_name", answer.full_name, "as the recorder has it");
  fields.member("self_ns", answer.self, "without what it contains");
  fields.member("step", answer.step, "to which it belongs");
  fields.member("source", answer.source, "the line that it comes from");
  fields.member("stack", answer.stack, "Python frames, innermost first");
  fields.member("facts", answer.facts, "what the trace says of it");
  fields.member("parents", answer.parents, "from the innermost outward");
  fields.member("relations", answer.relations, "what it has to do with others");
  fields.member("relations_left_out", answer.relations_left_out, "because there are too many");
}

namespace {

constexpr std::size_t kMostNameBytes = 100'000;
constexpr std::size_t kMostFrames = 200, kMostParents = 200, kMostRelations = 100;

// What is inside of it may overlap; each instant counts once.
Nanoseconds self_time(const Trace& trace, EventId event) {
  const Events& events = trace.events;
  const Track& track = trace.tracks[events.track[event]];
  const EventId end = track.first_event + track.event_count;
  Nanoseconds inside = 0, covered_until = events.start[event];
  for (EventId each = event + 1; each < end && events.start[each] < events.end(event); ++each) {
    if (events.parent[each] != event) continue;
    inside += std::max<Nanoseconds>(0, events.end(each) - std::max(events.start[each], covered_until));
    covered_until = std::max(covered_until, events.end(each));
  }
  return events.duration[event] - inside;
}

// That in which it starts or, for work of a device, in which it was launched.
std::optional<std::int64_t> step_of(const View& view, EventId event) {
  const FoundSteps& found = view.timeline->steps();
  if (found.source == StepSource::kWhole) return std::nullopt;
  const EventId launch = view.trace->launch_of(event);
  const Nanoseconds time = view.trace->events.start[launch == kNoEvent ? event : launch];
  const auto next =
      std::ranges::upper_bound(found.steps, time, {}, [](const FoundStep& step) { return step.host.begin; });
  if (next == found.steps.begin() || (next - 1)->host.end <= time) return std::nullopt;
  return (next - 1)->index;
}

std::optional<SourceLine> line_of(const Trace& trace, EventId event) {
  if (auto line = source_line(trace, event)) return line;
  const std::uint32_t* place = trace.sources.find(event);
  if (place == nullptr) return std::nullopt;
  const SourceLocation& location = trace.source_locations[*place];
  return SourceLine{std::string(trace.strings[location.file]), location.line,
                    std::string(trace.strings[location.function])};
}

}  // namespace

std::string ViewEventAnswer::json() const { return compact_json_of(*this); }

Result<EventId> event_numbered(const View& view, std::int64_t id) {
  const auto events = static_cast<std::int64_t>(view.trace->events.size());
  if (id >= 0 && id < events) return static_cast<EventId>(id);
  if (events == 0) return failure(fmt::format("there is no event {}: the trace has none", id));
  return failure(fmt::format("there is no event {}: the trace has 0 to {}", id, events - 1));
}

Result<ViewEventAnswer> view_event(const View& view, const ViewEventRequest& request) {
  const auto event = event_numbered(view, request.id);
  if (!event) return std::unexpected(event.error());
  const Trace& trace = *view.trace;
  ViewEventAnswer answer{.event = place_of(view, *event),
                         .full_name = std::string(trace.name(*event).substr(0, kMostNameBytes)),
                         .self = self_time(trace, *event),
                         .step = step_of(view, *event),
                         .source = line_of(trace, *event),
                         .stack = event_stack(trace, *event, kMostFrames),
                         .facts = event_facts(trace, *event)};
  for (EventId parent = trace.events.parent[*event]; parent != kNoEvent && answer.parents.size() < kMostParents;
       parent = trace.events.parent[parent])
    answer.parents.push_back(place_of(view, parent));
  const EventLinkList links = view.timeline->links().of(*event, kMostRelations);
  for (const LinkedEvent& link : links.links) answer.relations.push_back({link, place_of(view, link.event)});
  answer.relations_left_out = links.left_out;
  return answer;
}

}  // namespace telltale::answers
