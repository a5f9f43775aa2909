#include "answers/convert.h"

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "analysis/step_range.h"
#include "answers/chosen_steps.h"
#include "answers/suggestion.h"
#include "answers/time_text.h"
#include "base/amounts.h"
#include "formats/write_trace.h"

namespace telltale::answers {
namespace {

namespace fs = std::filesystem;

// A request whose words make sense.
struct Parsed {
  const OutputFormat* format = nullptr;
  StepChoice steps;
  std::optional<Nanoseconds> from, to;
};

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const OutputFormat& format : output_formats()) names.emplace_back(format.name);
  return names;
}

std::vector<std::string> file_endings() {
  std::vector<std::string> endings;
  for (const OutputFormat& format : output_formats())
    endings.insert(endings.end(), format.extensions.begin(), format.extensions.end());
  return endings;
}

Result<const OutputFormat*> chosen_format(const ConvertRequest& request) {
  const std::string option = spelled(request.spelling, "format");
  if (request.format) {
    if (const OutputFormat* format = format_named(*request.format)) return format;
    return failure(no_such_word("format", *request.format, format_names()));
  }
  if (request.output == "-")
    return failure("say what to write there with " + option + ": " + format_words(), "standard output");
  if (const OutputFormat* format = format_of_file(request.output)) return format;
  return failure("its ending names no format; use " + listed(file_endings(), "or") + ", or give " + option,
                 request.output);
}

Result<std::optional<Nanoseconds>> chosen_time(const std::optional<std::string>& text, std::string_view keyword,
                                               Spelling spelling) {
  if (!text) return std::optional<Nanoseconds>();
  if (const auto time = parsed_time(*text)) return time;
  return failure(spelled(spelling, keyword, *text) + " is not a time; write 1.5s, 200ms, 300us or 50ns");
}

Result<void> check_output(const ConvertRequest& request) {
  std::error_code unknown;
  if (fs::equivalent(request.source.path, request.output, unknown))
    return failure("the trace would be overwritten; choose another name for " + spelled(request.spelling, "output"),
                   request.output);
  if (!request.overwrite && fs::is_regular_file(request.output, unknown))
    return failure("already exists; " + switched_on(request.spelling, "overwrite") + " overwrites it", request.output);
  return {};
}

Result<Parsed> parsed(const ConvertRequest& request) {
  const auto steps = parsed_choice(request.steps, request.spelling);
  if (!steps) return std::unexpected(steps.error());
  const auto from = chosen_time(request.from, "from", request.spelling);
  if (!from) return std::unexpected(from.error());
  const auto to = chosen_time(request.to, "to", request.spelling);
  if (!to) return std::unexpected(to.error());
  if (*from && *to && **to <= **from)
    return failure(
        fmt::format("{} must be later than {}", spelled(request.spelling, "to"), spelled(request.spelling, "from")));
  const auto format = chosen_format(request);
  if (!format) return std::unexpected(format.error());
  if (const auto good = check_output(request); !good) return std::unexpected(good.error());
  return Parsed{*format, *steps, *from, *to};
}

std::string window_words(const ConvertRequest& request) {
  const auto word = [&](std::string_view keyword) { return spelled(request.spelling, keyword); };
  if (!request.to) return "after " + word("from");
  if (!request.from) return "before " + word("to");
  return "between " + word("from") + " and " + word("to");
}

using SharedTrace = std::shared_ptr<const Trace>;

Result<SharedTrace> part_by_time(SharedTrace trace, const Parsed& asked, const ConvertRequest& request) {
  if (!asked.from && !asked.to) return trace;
  const Interval window{asked.from.value_or(0), asked.to.value_or(std::numeric_limits<Nanoseconds>::max())};
  auto part = std::make_shared<const Trace>(slice(*trace, selection_of(*trace, window)));
  if (part->events.size() == 0 && part->memory.size() == 0 && part->counters.size() == 0)
    return failure(
        fmt::format("nothing happens {}: the trace lasts {}", window_words(request), format_time(trace->duration)),
        request.source.path);
  return part;
}

// `whole` must be the only one who holds the trace for it to be gone when a part of it has been taken.
Result<SharedTrace> chosen_part(SharedTrace whole, const Parsed& asked, const ConvertRequest& request) {
  if (std::string reason = why_no_step(*whole, asked.steps); !reason.empty())
    return failure(std::move(reason), request.source.path);
  auto part = part_by_time(std::move(whole), asked, request);
  if (!part || !asked.steps.range) return part;
  if (!why_no_step(**part, asked.steps).empty())
    return failure(fmt::format("no step matches {} {}", asked.steps.words, window_words(request)), request.source.path);
  return std::make_shared<const Trace>(slice(**part, selection_of(**part, *asked.steps.range)));
}

}  // namespace

std::string format_words() { return listed(format_names(), "or"); }

std::string ConvertAnswer::terminal() const {
  std::string text;
  for (const LeftOut& entry : left_out.entries())
    text +=
        fmt::format("left out: {}: {}\n", counted(static_cast<double>(entry.count), entry.one, entry.many), entry.why);
  return text;
}

Result<ConvertAnswer> convert(const ConvertRequest& request) {
  const auto asked = parsed(request);
  if (!asked) return std::unexpected(asked.error());
  auto source = load(request.source);
  if (!source) return std::unexpected(source.error());
  const auto trace = chosen_part(std::exchange(source->trace, nullptr), *asked, request);
  if (!trace) return std::unexpected(trace.error());

  WriteOptions writing;
  writing.existing = request.overwrite ? PendingFile::Existing::kReplace : PendingFile::Existing::kRefuse;
  writing.progress = [&](double share) { request.source.tell("Writing", share); };
  auto left_out = write_trace(**trace, *asked->format, request.output, writing);
  if (!left_out) return std::unexpected(left_out.error());
  return ConvertAnswer{*std::move(left_out)};
}

}  // namespace telltale::answers
