#include "cli/program.h"

#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "base/size_text.h"
#include "cli/command.h"
#include "cli/default_command.h"
#include "cli/help_format.h"
#include "cli/output.h"
#include "cli/parse_errors.h"

namespace telltale::cli {
namespace {

int fail(std::string_view sentence) {
  say(std::string(sentence));
  return kCouldNotWork;
}

const CLI::App& default_command(const CLI::App& app) {
  return *app.get_subcommand(std::string(commands::analyze.name));
}

void declare_globals(CLI::App& app, GlobalOptions& globals) {
  app.set_version_flag("--version", "telltale " TELLTALE_VERSION, "Print the version and stop");
  app.add_option("--threads", globals.reading.threads, "Threads to read with; 0 uses all processors")
      ->capture_default_str()
      ->type_name("N");
  app.add_option_function<std::string>(
         "--max-text",
         [&globals](const std::string& text) {
           const auto bytes = parsed_size(text);
           if (!bytes)
             throw CLI::ValidationError("--max-text",
                                        "'" + text + "' is not a size; write 64G, 500M or a number of bytes");
           globals.reading.max_text_bytes = *bytes;
         },
         "Refuse files that decompress to more than this (64G)")
      ->type_name("SIZE");
}

int run_program(int argc, const char* const* argv) {
  GlobalOptions globals;
  CLI::App app("Telltale tells you why a model is slow.", "telltale");
  app.formatter(std::make_shared<HelpFormat>());
  app.set_help_flag("-h,--help", "Print this help and stop");
  app.require_subcommand(1);
  app.fallthrough();
  declare_globals(app, globals);

  std::vector<std::pair<CLI::App*, Work>> commands;
  for (const Command* command : all_commands()) {
    CLI::App* subcommand = app.add_subcommand(std::string(command->name), std::string(command->summary));
    commands.emplace_back(subcommand, command->declare(*subcommand, globals));
    const std::string examples = subcommand->get_footer();
    subcommand->footer("Also --threads and --max-text: see telltale --help." +
                       (examples.empty() ? "" : "\n\n" + examples));
  }
  app.footer(
      "TRACE is what torch.profiler wrote (.json, .json.gz, .json.zst), what telltale recorded (.tell),\n"
      "a memory snapshot (.pickle), or - for standard input.\n\n"
      "  telltale record -- python train.py\n"
      "  telltale train.json.gz                     the same as telltale analyze\n"
      "  telltale info train.json.gz\n"
      "  telltale top train.json.gz --by kernel --steps 3..7");

  std::vector<std::string> words = with_default_command({argv + 1, argv + argc}, app, default_command(app));
  globals.child_command = taken_child_command(words, app, *app.get_subcommand(std::string(commands::record.name)));
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // which takes them from the end
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      app.exit(error);  // --help and --version
      return kDone;
    }
    return fail(explained(app, default_command(app), error, words));
  }
  for (const auto& [subcommand, work] : commands) {
    if (!subcommand->parsed()) continue;
    const Result<ExitCode> outcome = work();
    return outcome ? *outcome : fail(to_string(outcome.error()));
  }
  return kDone;
}

}  // namespace

int run(int argc, const char* const* argv) {
  // A reader that has seen enough, such as head, is no error: writing fails with EPIPE and we stop in silence.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run_program(argc, argv);
  } catch (const std::bad_alloc&) {
    return fail("there is not enough memory for this trace");
  } catch (const std::exception& error) {
    return fail(std::string("something went wrong inside telltale: ") + error.what());
  }
}

}  // namespace telltale::cli
