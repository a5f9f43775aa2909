#include "advise/patterns/rank_waits.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "analysis/host_collectives.h"
#include "analysis/host_timeline.h"

namespace telltale {
namespace {

// Lists of tensors come without their types: 32 bits, which is the most that gradients mostly have.
constexpr double kBytesOfElement = 4;

// Of "[[[512,1024],[512]],[],[]]", the elements of all tensors in the first argument.
double elements_of_first(std::string_view shapes) {
  double elements = 0, product = 1;
  int depth = 0;
  bool has_number = false;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const char c = shapes[i];
    if (c == '[') {
      ++depth;
      product = 1;
      has_number = false;
    } else if (c == ']') {
      if (has_number) elements += product;
      has_number = false;
      if (--depth <= 1) break;  // the first argument is over
    } else if (c >= '0' && c <= '9') {
      double number = 0;
      const auto read = std::from_chars(shapes.data() + i, shapes.data() + shapes.size(), number);
      product *= number;
      has_number = true;
      i = static_cast<std::size_t>(read.ptr - shapes.data()) - 1;
    }
  }
  return elements;
}

std::optional<double> bytes_per_step(const Facts& facts) {
  double bytes = 0;
  for (const EventId op : events_named(facts, Kind::kOperator, [](std::string_view name) {
         return name.starts_with("c10d::") && name.ends_with('_');
       }))
    bytes += kBytesOfElement * elements_of_first(texts_of(facts.trace, op).shapes);
  return bytes > 0 ? std::optional(bytes / facts.steps()) : std::nullopt;
}

}  // namespace

std::optional<Nanoseconds> RankWaits::for_ranks() const {
  if (!bytes) return std::nullopt;
  const auto sending = static_cast<Nanoseconds>(1e9 * kTimesSent * *bytes / kSlowestNetwork);
  return std::max<Nanoseconds>(0, waited - sending);
}

RankWaits rank_waits(const Facts& facts) {
  RankWaits waits;
  const HostCollectives collectives(facts.trace);
  if (collectives.empty()) return waits;
  const Events& events = facts.trace.events;
  std::ranges::copy_if(collectives.events(), std::back_inserter(waits.collectives),
                       [&](EventId event) { return facts.is_in_steps(event); });
  std::ranges::stable_sort(waits.collectives, std::ranges::greater{},
                           [&](EventId event) { return events.duration[event]; });
  const Interval window = facts.diagnosis.timing.window;
  Nanoseconds waited = 0;
  HostTimeline timeline(facts.trace, launching_threads(facts.trace, window), window, facts.host_work);
  while (timeline.next()) {
    const auto& [when, event] = timeline.segment();
    collectives.cut(when, event, [&](Interval piece, bool is_waiting) {
      if (!is_waiting) return;
      waited += piece.length();
      if (event != kNoEvent) waits.by_event[event] += piece.length();
    });
  }
  waits.waited = static_cast<Nanoseconds>(static_cast<double>(waited) / facts.diagnosis.timing.periods);
  waits.bytes = bytes_per_step(facts);
  return waits;
}

Edit without_rank_waits(const Facts& facts, const RankWaits& waits, double share) {
  const Events& events = facts.trace.events;
  Edit edit = facts.unobserved;
  for (const auto& [event, waited] : waits.by_event) {
    Nanoseconds own = events.duration[event];
    const EventId end = subtree_end(facts.trace, event);
    for (EventId inner = event + 1; inner < end; ++inner)
      if (events.parent[inner] == event) own -= events.duration[inner];
    const double left = 1 - share * static_cast<double>(waited) / static_cast<double>(std::max<Nanoseconds>(own, 1));
    edit.scale_event(facts.trace, event, static_cast<float>(std::clamp(left, 0.0, 1.0)));
  }
  return edit;
}

}  // namespace telltale
