// Events by name: how many there are, and from one to the next by their start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "answers/event_place.h"
#include "answers/view.h"
#include "base/error.h"
#include "timeline/event_matches.h"

namespace telltale::answers {

struct ViewSearchRequest {
  std::string text;       // a part of names, whatever the case of its letters
  bool is_exact = false;  // the text is a whole name as the recorder has it
  std::optional<std::int64_t> from;
  bool is_backwards = false;
};

struct FoundName {
  std::string name;
  std::size_t events = 0;
};

struct ViewSearchAnswer {
  std::size_t count = 0;
  std::optional<std::size_t> position;
  std::optional<EventPlace> event;
  std::vector<FoundName> names;  // the most frequent first

  std::string json() const;  // SearchAnswer in web/src/protocol.ts
};

Result<ViewSearchAnswer> view_search(const View& view, const ViewSearchRequest& request);

// What is kept of a search, to go on from one event to the next: a bit for each event of the trace.
struct SearchKey {
  std::string text;
  bool is_exact = false;
  bool operator==(const SearchKey&) const = default;
};
struct KeptSearch {
  EventMatches matches;
  std::vector<FoundName> names;
};

}  // namespace telltale::answers
