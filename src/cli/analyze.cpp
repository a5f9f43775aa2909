// telltale analyze TRACE: why it is slow, and what each fix would buy.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <span>
#include <system_error>

#include "advise/diagnosis.h"
#include "advise/rule_info.h"
#include "analysis/host_work.h"
#include "cli/command.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/step_choice.h"
#include "report/analyze_html.h"
#include "report/analyze_markdown.h"
#include "report/analyze_terminal.h"
#include "report/json.h"
#include "words/chosen_steps.h"
#include "words/rule_words.h"

namespace telltale::cli {
namespace {

struct AnalyzeOptions {
  std::string path, html_path;
  DiagnosisOptions diagnosis;
  std::span<const RuleInfo> explained;
  bool wants_json = false, wants_markdown = false;
};

const RuleInfo& chosen_rule(const std::string& id, const std::string& option) {
  const Result<const RuleInfo*> rule = rule_named(id);
  if (!rule) throw CLI::ValidationError(option, rule.error().message);
  return **rule;
}

Result<ExitCode> write_file(const std::string& path, std::string_view text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text << std::flush;
  if (file) return kDone;
  return failure(std::string("the page could not be written: ") + std::strerror(errno == 0 ? EIO : errno), path);
}

// What else was done belongs on the screen, and not into what another program reads.
void say(const std::string& sentence) { (isatty(STDOUT_FILENO) != 0 ? std::cout : std::cerr) << sentence << std::endl; }

Result<ExitCode> write_page(const AnalyzeOptions& options, const Diagnosis& diagnosis, const Trace& trace) {
  std::error_code unknown;
  if (std::filesystem::equivalent(options.path, options.html_path, unknown)) {
    return failure("the page would overwrite the trace; give --html another name", options.html_path);
  }
  return write_file(options.html_path, analyze_html(diagnosis, trace));
}

Result<ExitCode> analyze(const AnalyzeOptions& options, const GlobalOptions& globals) {
  ProgressLine progress;
  const Result<Trace> trace = load(options.path, globals, progress);
  if (!trace) return std::unexpected(trace.error());
  if (const std::string reason = why_no_step(*trace, options.diagnosis.steps, "--steps"); !reason.empty()) {
    return failure(reason, options.path);
  }

  progress.show_now("Analyzing");
  Diagnosis diagnosis = diagnose(*trace, options.diagnosis);
  diagnosis.path = options.path;
  if (!options.html_path.empty()) {
    if (const auto written = write_page(options, diagnosis, *trace); !written) return written;
  }
  progress.clear();

  const Result<ExitCode> printed = print(options.wants_json       ? to_json(diagnosis, *trace)
                                         : options.wants_markdown ? analyze_markdown(diagnosis, *trace)
                                                                  : analyze_text(diagnosis, *trace, output_style()));
  if (printed && !options.html_path.empty()) say("The page is in " + options.html_path);
  return printed;
}

Result<ExitCode> explain(const AnalyzeOptions& options) {
  if (options.wants_markdown) return print(rules_markdown(options.explained));
  std::string text;
  for (const RuleInfo& rule : options.explained) text += (text.empty() ? "" : "\n") + rule_text(rule, output_style());
  return print(text);
}

Result<ExitCode> show_analysis(const AnalyzeOptions& options, const GlobalOptions& globals) {
  if (!options.explained.empty()) return explain(options);
  if (options.path.empty()) return failure("TRACE is required (see telltale analyze --help)");
  return analyze(options, globals);
}

void declare_choice(CLI::App& app, AnalyzeOptions& options) {
  declare_steps(app, options.diagnosis.steps);
  app.add_option_function<std::vector<std::string>>(
         "--rule",
         [&options](const std::vector<std::string>& ids) {
           for (const std::string& id : ids) options.diagnosis.rules.emplace_back(chosen_rule(id, "--rule").id);
         },
         "Only what this rule finds; may be given several times")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->type_name("ID");
  app.add_option("--min-saving", options.diagnosis.least_saving_percent,
                 "Leave out what would save less than this share of a step, in percent (1)")
      ->check(CLI::Range(0.0, 100.0))
      ->type_name("PCT");
}

void declare_output(CLI::App& app, AnalyzeOptions& options) {
  CLI::Option* json = app.add_flag("--json", options.wants_json, "Print telltale.analyze/1");
  app.add_flag("--markdown", options.wants_markdown, "Print Markdown, as for a pull request")->excludes(json);
  app.add_option("--html", options.html_path, "Also write a page with pictures and tables to this file")
      ->type_name("FILE");
  app.add_option_function<std::string>(
         "--explain",
         [&options](const std::string& id) {
           options.explained = id == "all" ? rule_infos() : std::span(&chosen_rule(id, "--explain"), 1);
         },
         "Tell what a rule, or all, looks for and how its saving is computed; needs no TRACE")
      ->type_name("RULE");
}

Work declare(CLI::App& app, const GlobalOptions& globals) {
  auto options = std::make_shared<AnalyzeOptions>();
  app.add_option("TRACE", options->path, "A trace file, or - for standard input");
  declare_choice(app, *options);
  declare_output(app, *options);
  app.footer(
      "  telltale train.json.gz\n"
      "  telltale analyze train.json.gz --steps 3..7 --html report.html\n"
      "  telltale analyze --explain host_sync");
  return [options, &globals] { return show_analysis(*options, globals); };
}

}  // namespace

const Command kAnalyzeCommand = {"analyze", "Say why it is slow, at which line, and what each fix would buy", declare};

}  // namespace telltale::cli
