#include "advise/request_words.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "base/amounts.h"

namespace telltale {
namespace {

// A queue and a pool make threads wait for locks, a server's loop for poll.
std::string_view phrase_of(std::string_view what) {
  constexpr auto kPhrases = std::to_array<std::pair<std::string_view, std::string_view>>({
      {"lock", "for a lock or a queue"},
      {"socket", "for a socket"},
      {"poll", "for something to read or write"},
      {"pipe", "for a pipe"},
      {"file", "for a file"},
      {"process", "for a process"},
      {"sleep", "in a sleep"},
  });
  for (const auto& [name, phrase] : kPhrases)
    if (name == what) return phrase;
  return "for something else";
}

}  // namespace

std::string latency_sentence(const Requests& requests) {
  const std::string calls =
      requests.are_calls_of_module ? "" : fmt::format(", in {} of modules", counted(requests.calls, "call"));
  return fmt::format("A request (a call of {}) takes {} (p50), {} (p99) as recorded{}; {} come per second.",
                     requests.name, format_time(requests.p50_ns), format_time(requests.p99_ns), calls,
                     format_number(requests.per_second()));
}

std::string serving_sentence(const Requests& requests) {
  const bool is_one = requests.threads.size() == 1;
  std::string text =
      fmt::format("{} {}, busy {} of the time", counted(static_cast<double>(requests.threads.size()), "thread"),
                  is_one ? "serves" : "serve", format_percent(requests.busy_percent));
  if (!requests.waits_between.empty())
    text += fmt::format("; between requests {} mostly {}", is_one ? "it waits" : "they wait",
                        phrase_of(requests.waits_between.front().what));
  if (!requests.waits_inside.empty() && requests.waits_inside.front().ns * 20 >= requests.total_ns)
    text += fmt::format("; within requests {} {} {} of the time", is_one ? "it waits" : "they wait",
                        phrase_of(requests.waits_inside.front().what),
                        format_percent(100.0 * static_cast<double>(requests.waits_inside.front().ns) /
                                       static_cast<double>(requests.total_ns)));
  return text + '.';
}

}  // namespace telltale
