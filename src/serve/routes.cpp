// A question is a function that reads its request from the parameters, and a line in the table that names it with the
// function of src/answers that answers it.
#include "serve/routes.h"

#include <expected>
#include <utility>

#include "answers/info.h"
#include "answers/view_counters.h"
#include "answers/view_event.h"
#include "answers/view_fixes.h"
#include "answers/view_flame.h"
#include "answers/view_memory.h"
#include "answers/view_memory_report.h"
#include "answers/view_overview.h"
#include "answers/view_range.h"
#include "answers/view_roofline.h"
#include "answers/view_search.h"
#include "answers/view_source.h"
#include "answers/view_steps.h"
#include "answers/view_table.h"
#include "answers/view_tiles.h"
#include "answers/view_trace.h"

namespace telltale::serve {
namespace {

using answers::View;

// Reads the request, asks, and sends what comes back: answers have json() or, where they are binary, bytes().
template <auto kRead, auto kAsk>
Result<Reply> answered(const View& view, Parameters& parameters) {
  const auto request = kRead(parameters);
  if (auto problem = parameters.problem()) return std::unexpected(*std::move(problem));
  const auto answer = kAsk(view, request);
  if (!answer) return std::unexpected(answer.error());
  if constexpr (requires { answer->bytes(); }) {
    return Reply{.type = kBytes, .body = answer->bytes()};
  } else {
    return Reply{.body = answer->json()};
  }
}

answers::InfoRequest info_request(Parameters&) { return {}; }

Result<answers::InfoAnswer> info(const View& view, const answers::InfoRequest&) {
  return answers::info({.source = {.path = view.path, .trace = view.trace}});
}

answers::ViewTraceRequest trace_request(Parameters&) { return {}; }

answers::ViewTilesRequest tiles_request(Parameters& parameters) {
  return {.level = parameters.needed_whole<std::int64_t>("level"),
          .tile = parameters.needed_whole<std::int64_t>("tile"),
          .tracks = parameters.wholes<TrackId>("tracks")};
}

answers::ViewCountersRequest counters_request(Parameters& parameters) {
  return {.level = parameters.needed_whole<std::int64_t>("level"),
          .tile = parameters.needed_whole<std::int64_t>("tile"),
          .tracks = parameters.wholes<TrackId>("tracks")};
}

answers::ViewEventRequest event_request(Parameters& parameters) { return {parameters.needed_whole<EventId>("id")}; }

answers::ViewSearchRequest search_request(Parameters& parameters) {
  return {.text = parameters.needed_text("q"),
          .is_exact = parameters.flag("exact"),
          .from = parameters.whole<std::int64_t>("from"),
          .is_backwards = parameters.choice("towards", {"next", "previous"}) == "previous"};
}

answers::ViewRangeRequest range_request(Parameters& parameters) {
  return {.start = parameters.needed_whole<std::int64_t>("start"),
          .end = parameters.needed_whole<std::int64_t>("end"),
          .tracks = parameters.wholes<TrackId>("tracks")};
}

answers::OverviewRequest overview_request(Parameters& parameters) { return {parameters.text("steps")}; }

answers::FixesRequest fixes_request(Parameters& parameters) {
  return {parameters.wholes<std::size_t>("finding"), parameters.text("steps")};
}

answers::TableRequest table_request(Parameters& parameters) {
  answers::TableRequest request;
  request.rows = parameters.text("rows").value_or(request.rows);
  request.group = parameters.text("group").value_or(request.group);
  request.steps = parameters.text("steps");
  request.filter = parameters.text("filter").value_or("");
  request.sort = parameters.text("sort");
  request.order = parameters.text("order");
  request.offset = parameters.whole<std::int64_t>("offset").value_or(request.offset);
  request.limit = parameters.whole<std::int64_t>("limit").value_or(request.limit);
  return request;
}

answers::FlameRequest flame_request(Parameters& parameters) {
  answers::FlameRequest request;
  request.weight = parameters.text("weight").value_or(request.weight);
  request.by = parameters.text("by").value_or(request.by);
  request.order = parameters.text("order").value_or(request.order);
  request.steps = parameters.text("steps");
  return request;
}

answers::ViewMemoryRequest memory_request(Parameters& parameters) {
  answers::ViewMemoryRequest request;
  request.device = parameters.whole<DeviceId>("device");
  request.at = parameters.whole<Nanoseconds>("at");
  request.start = parameters.whole<Nanoseconds>("start");
  request.end = parameters.whole<Nanoseconds>("end");
  request.points = parameters.whole<std::int64_t>("points").value_or(request.points);
  return request;
}

answers::MemoryReportRequest memory_report_request(Parameters&) { return {}; }

answers::RooflineRequest roofline_request(Parameters& parameters) { return {parameters.text("steps")}; }

answers::SourceRequest source_request(Parameters& parameters) {
  return {parameters.whole<answers::FileNumber>("file"), parameters.text("steps")};
}

Result<Reply> table_as_csv(const View& view, Parameters& parameters) {
  const answers::TableRequest request = table_request(parameters);
  if (auto problem = parameters.problem()) return std::unexpected(*std::move(problem));
  const auto answer = answers::table(view, request);
  if (!answer) return std::unexpected(answer.error());
  return Reply{.type = kCsv, .body = answer->csv(), .fields = {{"Content-Disposition", "attachment"}}};
}

using enum Route::Speed;

constexpr Route kRoutes[] = {
    {"/api/info", kQuick, answered<info_request, info>},
    {"/api/trace", kQuick, answered<trace_request, answers::view_trace>},
    {"/api/tiles", kQuick, answered<tiles_request, answers::view_tiles>},
    {"/api/counters", kQuick, answered<counters_request, answers::view_counters>},
    {"/api/event", kQuick, answered<event_request, answers::view_event>},
    {"/api/search", kQuick, answered<search_request, answers::view_search>},
    {"/api/range", kQuick, answered<range_request, answers::view_range>},
    {"/api/overview", kQuickOnceDiagnosed, answered<overview_request, answers::overview>},
    {"/api/fixes", kQuickOnceDiagnosed, answered<fixes_request, answers::fixes>},
    {"/api/table", kSlow, answered<table_request, answers::table>},
    {"/api/table.csv", kSlow, table_as_csv},
    {"/api/flame", kSlow, answered<flame_request, answers::flame>},
    {"/api/memory", kSlow, answered<memory_request, answers::view_memory>},
    {"/api/memory_report", kSlow, answered<memory_report_request, answers::view_memory_report>},
    {"/api/roofline", kSlow, answered<roofline_request, answers::roofline>},
    {"/api/source", kSlow, answered<source_request, answers::source>},
};

}  // namespace

std::span<const Route> routes() { return kRoutes; }

bool is_slow(const Route& route, const View& view, const std::string& query) {
  if (route.speed != kQuickOnceDiagnosed) return route.speed == kSlow;
  Parameters parameters(query);
  return !answers::has_diagnosis_of(view, parameters.text("steps"));
}

}  // namespace telltale::serve
