#include "capture/run/gauge_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace telltale::capture {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTime = "\"ts\":", kOrigin = "\"baseTimeNanoseconds\":", kEvents = "\"traceEvents\":";
constexpr std::size_t kLongestValue = 64;  // of a number and the space before it
constexpr std::int64_t kBehind = 300'000'000;

// What the events' place in the file and in time is, found without reading it as JSON: it may be large.
struct TraceOutline {
  std::int64_t origin_ns = 0;
  std::optional<std::uint64_t> first_event;  // the byte behind the list's bracket
  std::optional<double> first_us, last_us;   // of all times of events

  std::int64_t time_ns(double us) const { return origin_ns + std::llround(us * 1000); }
};

template <typename Number>
std::optional<Number> number_behind(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \n\t");
  if (first == std::string_view::npos) return std::nullopt;
  Number number{};
  const auto [end, error] = std::from_chars(text.data() + first, text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

void look_at(std::string_view key, std::string_view behind, std::uint64_t offset, TraceOutline& outline) {
  if (key == kOrigin) {
    outline.origin_ns = number_behind<std::int64_t>(behind).value_or(outline.origin_ns);
  } else if (key == kEvents) {
    const std::size_t bracket = behind.find_first_not_of(" \n\t");
    if (!outline.first_event && bracket != std::string_view::npos && behind[bracket] == '[')
      outline.first_event = offset + bracket + 1;
  } else if (const auto time = number_behind<double>(behind); time && outline.first_event) {
    outline.first_us = std::min(*time, outline.first_us.value_or(*time));
    outline.last_us = std::max(*time, outline.last_us.value_or(*time));
  }
}

TraceOutline outline_of(std::ifstream& file) {
  constexpr std::size_t kPiece = 1 << 20;
  TraceOutline outline;
  std::string text;
  std::uint64_t offset = 0;  // of the text in the file
  for (bool is_at_end = false; !is_at_end;) {
    const std::size_t kept = text.size();
    text.resize(kept + kPiece);
    file.read(text.data() + kept, kPiece);
    text.resize(kept + static_cast<std::size_t>(file.gcount()));
    is_at_end = !file;
    // A key that stands at the end is looked at with the next piece, when its value is there.
    const std::size_t looked = is_at_end || text.size() < kLongestValue ? text.size() : text.size() - kLongestValue;
    for (std::size_t quote = text.find('"'); quote < looked; quote = text.find('"', quote + 1)) {
      const std::string_view here = std::string_view(text).substr(quote);
      for (const std::string_view key : {kTime, kOrigin, kEvents})
        if (here.starts_with(key)) look_at(key, here.substr(key.size()), offset + quote + key.size(), outline);
    }
    text.erase(0, looked);
    offset += looked;
  }
  return outline;
}

std::string events_text(const TraceOutline& outline, int pid, std::span<const GaugeReading> readings) {
  const std::int64_t first = outline.time_ns(*outline.first_us);  // earlier ones would make the trace longer
  const std::int64_t last = outline.time_ns(*outline.last_us) + kBehind;
  std::string text;
  for (const GaugeReading& reading : readings) {
    if (reading.time_ns < first || reading.time_ns > last || !std::isfinite(reading.value)) continue;
    text += fmt::format(
        "\n  {{\"ph\": \"C\", \"name\": \"{}\", \"pid\": {}, \"tid\": \"gauges\", \"ts\": {:.3f}, \"args\": "
        "{{\"value\": {}}}}},",
        reading.counter, pid, static_cast<double>(reading.time_ns - outline.origin_ns) / 1000, reading.value);
  }
  return text;
}

}  // namespace

void add_gauge_events(const fs::path& trace, int pid, std::span<const GaugeReading> readings) {
  std::ifstream from(trace, std::ios::binary);
  const TraceOutline outline = outline_of(from);
  if (!outline.first_event || !outline.first_us) return;
  const std::string events = events_text(outline, pid, readings);
  if (events.empty()) return;

  const fs::path longer = trace.string() + ".gauges";
  std::ofstream to(longer, std::ios::binary);
  from.clear();
  from.seekg(0);
  std::string before(*outline.first_event, '\0');
  from.read(before.data(), static_cast<std::streamsize>(before.size()));
  to << before << events << from.rdbuf();
  to.close();
  std::error_code error;
  if (to && from)
    fs::rename(longer, trace, error);
  else
    fs::remove(longer, error);
}

}  // namespace telltale::capture
