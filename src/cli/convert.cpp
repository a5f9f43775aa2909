// telltale convert TRACE -o FILE: the same trace, or a part of it, in another format.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <limits>
#include <memory>
#include <system_error>

#include "analysis/step_range.h"
#include "base/amounts.h"
#include "cli/command.h"
#include "cli/load.h"
#include "cli/step_choice.h"
#include "cli/time_text.h"
#include "formats/write_trace.h"
#include "words/chosen_steps.h"
#include "words/suggestion.h"

namespace telltale::cli {
namespace {

struct ConvertOptions {
  std::string path, output, format;
  std::optional<StepRange> steps;
  std::optional<Nanoseconds> from, to;
  bool may_overwrite = false;
};

std::string names_of_formats() {
  std::string names;
  for (const OutputFormat& format : output_formats()) names.append(names.empty() ? "" : ", ").append(format.name);
  return names;
}

std::string endings_of_files() {
  std::string endings;
  for (const OutputFormat& format : output_formats())
    for (const std::string_view extension : format.extensions)
      endings.append(endings.empty() ? "" : ", ").append(extension);
  return endings;
}

Result<const OutputFormat*> chosen_format(const ConvertOptions& options) {
  if (!options.format.empty()) return format_named(options.format);
  if (options.output == "-")
    return failure("say with --format what to write: " + names_of_formats(), "standard output");
  if (const OutputFormat* format = format_of_file(options.output)) return format;
  return failure(
      "its ending names no format; there are " + endings_of_files() + ", or say --format " + names_of_formats(),
      options.output);
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code unknown;
  return std::filesystem::equivalent(a, b, unknown);
}

Result<Trace> part_by_time(Trace trace, const ConvertOptions& options) {
  if (!options.from && !options.to) return trace;
  const Interval window{options.from.value_or(0), options.to.value_or(std::numeric_limits<Nanoseconds>::max())};
  Trace part = slice(trace, selection_of(trace, window));
  if (part.events.size() == 0 && part.memory.size() == 0 && part.counters.size() == 0)
    return failure(
        fmt::format("nothing happens between --from and --to: the trace lasts {}", format_time(trace.duration)),
        options.path);
  return part;
}

Result<Trace> chosen_part(Trace whole, const ConvertOptions& options) {
  if (const std::string reason = why_no_step(whole, options.steps, "--steps"); !reason.empty())
    return failure(reason, options.path);
  auto part = part_by_time(std::move(whole), options);
  if (!part || !options.steps) return part;
  if (const std::string reason = why_no_step(*part, options.steps, "--steps"); !reason.empty())
    return failure("--steps chooses none of what is between --from and --to", options.path);
  return slice(*part, selection_of(*part, *options.steps));
}

// What is missing in the file belongs on the screen, and not into what another program reads.
void say_what_is_left_out(const LeftOutList& left_out) {
  for (const LeftOut& entry : left_out.entries())
    std::cerr << fmt::format("left out: {} {}: {}\n", format_count(static_cast<std::int64_t>(entry.count)),
                             entry.count == 1 ? entry.one : entry.many, entry.why);
}

Result<ExitCode> convert(const ConvertOptions& options, const GlobalOptions& globals) {
  if (options.from && options.to && *options.to <= *options.from) return failure("--to must be later than --from");
  const auto format = chosen_format(options);
  if (!format) return std::unexpected(format.error());
  if (is_same_file(options.path, options.output))
    return failure("the trace would be overwritten; give -o another name", options.output);

  ProgressLine progress;
  auto whole = load(options.path, globals, progress);
  if (!whole) return std::unexpected(whole.error());
  auto trace = chosen_part(std::move(*whole), options);
  if (!trace) return std::unexpected(trace.error());

  WriteOptions writing;
  writing.existing = options.may_overwrite ? PendingFile::Existing::kReplace : PendingFile::Existing::kRefuse;
  writing.progress = [&](double share) { progress.show(fmt::format("Writing: {:.0f} %", share * 100)); };
  const auto left_out = write_trace(*trace, **format, options.output, writing);
  progress.clear();
  if (!left_out) return std::unexpected(left_out.error());
  say_what_is_left_out(*left_out);
  return kDone;
}

void declare_time(CLI::App& app, const std::string& name, std::optional<Nanoseconds>& time, const std::string& what) {
  app.add_option_function<std::string>(
         name,
         [&time, name](const std::string& text) {
           time = parsed_time(text);
           if (!time) throw CLI::ValidationError(name, "'" + text + "' is no time; write 1.5s, 200ms, 300us or 50ns");
         },
         what)
      ->type_name("TIME");
}

Work declare(CLI::App& app, const GlobalOptions& globals) {
  auto options = std::make_shared<ConvertOptions>();
  app.add_option("TRACE", options->path, "A trace file, or - for standard input")->required();
  app.add_option("-o,--output", options->output, "The file to write, or - for standard output")
      ->required()
      ->type_name("FILE");
  app.add_option_function<std::string>(
         "--format",
         [options](const std::string& name) {
           if (format_named(name) == nullptr)
             throw CLI::ValidationError("--format",
                                        "there is no format '" + name + "'; there are " + names_of_formats());
           options->format = name;
         },
         "The format, where the file's ending does not name it: " + names_of_formats())
      ->type_name("NAME");
  declare_steps(app, options->steps);
  declare_time(app, "--from", options->from, "Only what happens after this time from the trace's start: 1.5s, 200ms");
  declare_time(app, "--to", options->to, "Only what happens before this time from the trace's start");
  app.add_flag("--force", options->may_overwrite, "Overwrite the file where there is one");
  std::string footer = "Files end with\n";
  for (const OutputFormat& format : output_formats())
    footer += fmt::format("  {:<18} {}\n", format.extensions.front(), format.description);
  app.footer(footer +
             "and with .gz or .zst behind that to be compressed. What a format has no place for is counted.\n\n"
             "  telltale convert train.json.gz -o train.pftrace\n"
             "  telltale convert train.json.gz -o step5.json.zst --steps 5\n"
             "  telltale convert train.json.gz -o - --format collapsed | flamegraph.pl > train.svg");
  return [options, &globals] { return convert(*options, globals); };
}

}  // namespace

const Command kConvertCommand = {"convert", "Write a trace, or a part of it, in another format", declare};

}  // namespace telltale::cli
