#include "report/activity_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>

#include "base/amounts.h"
#include "report/shown_names.h"

namespace telltale {
namespace {

constexpr double kWorthSaying = 0.5;  // percent: what rounds to nothing is not mentioned

const SpanLatency* request_of(const Diagnosis& diagnosis) {
  const auto& latencies = diagnosis.latencies;
  return latencies.empty() || !latencies.front().is_async || latencies.front().count == 0 ? nullptr
                                                                                          : &latencies.front();
}

// Known of most of them, so that it can be said of all.
const SpanWaiting* waiting_of(const SpanLatency& request) {
  return request.waiting && 2 * request.waiting->spans >= request.count ? &*request.waiting : nullptr;
}

std::string waiting_clause(const SpanWaiting& waiting) {
  if (waiting.waiting_percent() < kWorthSaying) return "; it is served immediately";
  const bool is_beside_idle = 2 * waiting.beside_idle_ns >= waiting.waiting_ns;
  return fmt::format(
      "; for {} of that it waits, mostly {}", format_percent(waiting.waiting_percent()),
      is_beside_idle ? "while a thread that could serve it is idle" : "while all threads that serve are busy");
}

std::string request_sentence(const SpanLatency& request) {
  const SpanWaiting* waiting = waiting_of(request);
  return fmt::format("Each {} takes {} (p50), {} (p99){}.", name_in_sentence(request.name), format_time(request.p50_ns),
                     format_time(request.p99_ns), waiting != nullptr ? waiting_clause(*waiting) : "");
}

// ", mostly in layer"
std::string mostly_in(const ThreadActivity& thread) {
  return thread.scopes.empty() || thread.busy_ns == 0 ? ""
                                                      : ", mostly in " + name_in_sentence(thread.scopes.front().name);
}

std::string serving_sentence(const Diagnosis& diagnosis, const SpanWaiting& waiting) {
  const auto serves = [&](const ThreadActivity& thread) {
    return std::ranges::find(waiting.threads, thread.track) != waiting.threads.end();
  };
  const auto busiest = std::ranges::find_if(diagnosis.host.threads, serves);
  if (busiest == diagnosis.host.threads.end()) return {};
  const std::string who = waiting.threads.size() == 1
                              ? fmt::format("The thread that serves, {}, is", name_in_sentence(busiest->name))
                              : fmt::format("The {} threads that serve are", waiting.threads.size());
  return fmt::format("{} busy {} of the time{}.", who, format_percent(waiting.busy_percent), mostly_in(*busiest));
}

std::string busiest_sentence(const HostActivity& host) {
  if (host.threads.empty()) return "No thread was in any scope.";
  const ThreadActivity& busiest = host.threads.front();
  const std::string who = host.threads.size() == 1 ? fmt::format("Its only thread, {},", name_in_sentence(busiest.name))
                                                   : fmt::format("The busiest of {} threads, {},", host.threads.size(),
                                                                 name_in_sentence(busiest.name));
  return fmt::format("{} is busy {} of the time{}.", who, format_percent(host.busy_percent(busiest)),
                     mostly_in(busiest));
}

std::string unfinished_sentence(const SpanLatency& request) {
  if (request.unfinished == 0) return {};
  return fmt::format(" {} more did not end within the recording.", format_count(request.unfinished));
}

}  // namespace

std::string activity_subject(const Diagnosis& diagnosis) {
  std::string text = fmt::format("{} · {} · {}", file_label(diagnosis), format_time(diagnosis.host.window_ns),
                                 counted(static_cast<double>(diagnosis.host.threads.size()), "thread"));
  if (const SpanLatency* request = request_of(diagnosis))
    text += fmt::format(" · {} × {}", format_count(request->count), name_in_sentence(request->name));
  return text;
}

Headline activity_headline(const Diagnosis& diagnosis) {
  const SpanLatency* request = request_of(diagnosis);
  if (request == nullptr) {
    return {fmt::format("The recording covers {}.", format_time(diagnosis.host.window_ns)),
            busiest_sentence(diagnosis.host)};
  }
  const SpanWaiting* waiting = waiting_of(*request);
  const std::string threads =
      waiting != nullptr ? serving_sentence(diagnosis, *waiting) : busiest_sentence(diagnosis.host);
  return {request_sentence(*request), threads + unfinished_sentence(*request)};
}

LatencyCells latency_cells(const SpanLatency& latency) {
  return {latency.name,
          format_count(latency.count),
          format_time(latency.p50_ns),
          format_time(latency.p90_ns),
          format_time(latency.p99_ns),
          format_time(latency.max_ns),
          latency.waiting ? format_percent(latency.waiting->waiting_percent()) : std::string()};
}

CounterCells counter_cells(const CounterSummary& counter) {
  constexpr std::array<std::string_view, 2> kSaysNothing = {"", "value"};
  const bool has_series = std::ranges::find(kSaysNothing, counter.series) == kSaysNothing.end();
  return {has_series ? counter.name + " · " + counter.series : counter.name, format_number(counter.mean),
          format_number(counter.minimum), format_number(counter.maximum), format_count(counter.values)};
}

std::string scopes_text(const HostActivity& host, const ThreadActivity& thread) {
  constexpr std::size_t kMostScopes = 6;
  std::string text;
  for (const ScopeTime& scope : thread.scopes | std::views::take(kMostScopes)) {
    const double percent = percent_of(scope.own_ns, host.window_ns);
    if (percent < kWorthSaying) break;
    text += fmt::format("{}{} {:.0f}", text.empty() ? "" : " · ", name_in_sentence(scope.name), percent);
  }
  return text;
}

std::string more_text(std::size_t all, std::string_view what) {
  if (all <= kMostActivityRows) return {};
  return "and " + counted(static_cast<double>(all - kMostActivityRows), fmt::format("more {}", what));
}

}  // namespace telltale
