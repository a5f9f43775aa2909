#include "answers/view_search.h"

#include <algorithm>
#include <string_view>
#include <thread>

#include "answers/view_event.h"
#include "answers/view_kept.h"
#include "report/compact_json.h"

namespace telltale::answers {

template <typename Fields>
void describe(Fields& fields, const FoundName& found) {
  fields.object("FoundName", "A name that matches");
  fields.member("name", found.name, "as it is shown");
  fields.member("events", found.events, "that have it");
}

template <typename Fields>
void describe(Fields& fields, const ViewSearchAnswer& answer) {
  fields.object("SearchAnswer", "Events by name");
  fields.member("count", answer.count, "of events");
  fields.member("position", answer.position, "of the event among them");
  fields.member("event", answer.event, "that was gone to");
  fields.member("names", answer.names, "that match");
}

namespace {

constexpr std::size_t kMostNames = 50;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// `part` is in lower case.
bool contains(std::string_view text, std::string_view part) {
  return !std::ranges::search(text, part, {}, lower).empty();
}

KeptSearch searched(const View& view, const SearchKey& key) {
  const Trace& trace = *view.trace;
  const std::vector<NameUse>& uses = view.timeline->name_uses();
  std::string part = key.text;
  std::ranges::transform(part, part.begin(), lower);
  std::vector<bool> is_wanted(uses.size());
  std::vector<StringId> found;
  for (StringId name = 0; name < uses.size(); ++name) {
    if (uses[name].events == 0 || key.text.empty()) continue;
    const std::string_view full = trace.strings[name];
    const bool matches =
        key.is_exact ? full == key.text : contains(full, part) || contains(view.names->shown(name), part);
    if (!matches) continue;
    is_wanted[name] = true;
    found.push_back(name);
  }
  const auto end = found.begin() + static_cast<std::ptrdiff_t>(std::min(kMostNames, found.size()));
  std::ranges::partial_sort(found, end, [&](StringId a, StringId b) {
    return uses[a].events != uses[b].events ? uses[a].events > uses[b].events : a < b;
  });
  KeptSearch kept{EventMatches(trace, is_wanted, std::max(1u, std::thread::hardware_concurrency())), {}};
  for (auto name = found.begin(); name != end; ++name)
    kept.names.push_back({view.names->shown(*name), uses[*name].events});
  return kept;
}

}  // namespace

std::string ViewSearchAnswer::json() const { return compact_json_of(*this); }

Result<ViewSearchAnswer> view_search(const View& view, const ViewSearchRequest& request) {
  std::optional<EventId> from;
  if (request.from) {
    const auto event = event_numbered(view, *request.from);
    if (!event) return std::unexpected(event.error());
    from = *event;
  }
  const SearchKey key{request.text, request.is_exact};
  const auto kept = view.kept->searches.get(key, [&] { return searched(view, key); });
  const EventMatches& matches = kept->matches;
  ViewSearchAnswer answer{.count = matches.count(), .names = kept->names};
  const auto match = !from ? matches.first() : request.is_backwards ? matches.previous(*from) : matches.next(*from);
  if (!match) return answer;
  answer.position = match->position;
  answer.event = place_of(view, match->event);
  return answer;
}

}  // namespace telltale::answers
