// All about one event: what the trace says of it, where it was called from, and what it has to do with others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/source_line.h"
#include "answers/event_place.h"
#include "answers/view.h"
#include "base/error.h"
#include "timeline/event_facts.h"
#include "timeline/event_links.h"

namespace telltale::answers {

struct ViewEventRequest {
  EventId id = 0;
};

struct ViewRelation {
  LinkedEvent link;
  EventPlace place;
};

struct ViewEventAnswer {
  EventPlace event;
  std::string full_name;
  Nanoseconds self = 0;
  std::optional<std::int64_t> step;
  std::optional<SourceLine> source;
  std::vector<std::string> stack;
  std::vector<EventFact> facts;
  std::vector<EventPlace> parents;  // from the innermost outward; of very many the innermost
  std::vector<ViewRelation> relations;
  std::size_t relations_left_out = 0;

  std::string json() const;  // EventDetails in web/src/protocol.ts
};

Result<ViewEventAnswer> view_event(const View& view, const ViewEventRequest& request);

// An error where the trace has no such event.
Result<EventId> event_numbered(const View& view, std::int64_t id);

}  // namespace telltale::answers
