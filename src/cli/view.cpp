// telltale view TRACE: the page, served to a browser of this machine until the user has seen enough.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "cli/browser.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/trace_source.h"
#include "formats/input/file_bytes.h"
#include "serve/desk.h"
#include "serve/followed_file.h"
#include "serve/gate.h"
#include "serve/opened_trace.h"
#include "serve/secret.h"
#include "serve/server.h"

namespace telltale::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct ViewOptions {
  serve::Opening opening;
  std::int64_t port = 0;
  bool no_browser = false;
  bool until_eof = false;
  std::optional<double> idle_minutes;
};

// What can be known to be wrong before anything is served.
Result<void> check(const ViewOptions& options) {
  const std::string& path = options.opening.source.path;
  std::error_code unknown;
  if (options.port < 0 || options.port > UINT16_MAX)
    return failure(fmt::format("--port takes a number from 0 to {}, not {}", UINT16_MAX, options.port));
  if (options.idle_minutes && !(*options.idle_minutes > 0))
    return failure(fmt::format("--idle takes a number of minutes above 0, not {}", *options.idle_minutes));
  if (options.opening.is_followed && path == "-") return failure("--follow needs a file, not standard input");
  for (const std::string& folder : options.opening.source_folders)
    if (!std::filesystem::is_directory(folder, unknown))
      return failure("--source takes a folder, and this is not one", folder);
  if (path == "-" || std::filesystem::is_fifo(path, unknown)) return {};
  if (options.opening.is_followed && serve::is_being_recorded(path)) return {};
  const auto file = FileBytes::open(path);
  return file ? Result<void>() : std::unexpected(file.error());
}

Result<serve::Gate> new_gate(std::uint16_t port) {
  serve::Gate::Secrets secrets;
  for (std::string* secret : {&secrets.token, &secrets.launch_token, &secrets.cookie}) {
    auto made = serve::new_secret();
    if (!made) return std::unexpected(made.error());
    *secret = *std::move(made);
  }
  return serve::Gate(port, std::move(secrets));
}

std::string greeting(const serve::Gate& gate, std::uint16_t port) {
  char host[HOST_NAME_MAX + 1] = "";
  gethostname(host, HOST_NAME_MAX);
  return fmt::format(
      "{}\n"
      "To open it on another machine, run there first: ssh -N -L {}:127.0.0.1:{} {}\n"
      "Press Ctrl-C to stop serving it.\n",
      gate.address(), port, port, host);
}

// The terminals among our standard streams, and standard input if asked for: whether one of them has hung up.
class Terminal {
 public:
  explicit Terminal(bool until_eof) {
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      if (isatty(descriptor) != 0 || (descriptor == STDIN_FILENO && until_eof))
        streams_.push_back({.fd = descriptor, .events = 0});
  }
  bool is_gone() {
    return poll(streams_.data(), streams_.size(), 0) > 0;  // asked for nothing, it tells of hang-ups and errors alone
  }

 private:
  std::vector<pollfd> streams_;
};

// Whether to go on serving, asked several times a second.
class Watch {
 public:
  Watch(const ViewOptions& options, bool has_browser, const serve::Desk& desk, const serve::OpenedTrace& trace)
      : options_(options), has_browser_(has_browser), desk_(desk), trace_(trace) {}

  bool goes_on() { return !terminal_.is_gone() && !is_idle() && !has_failed(); }

 private:
  bool is_idle() const {
    if (!options_.idle_minutes) return false;
    const std::chrono::duration<double> idle = Clock::now() - desk_.last_visit().value_or(start_);
    return idle > std::chrono::duration<double, std::ratio<60>>(*options_.idle_minutes);
  }

  // A page that is open, or about to open, is told why there is nothing to see, so that nobody looks at a tab that says
  // that nothing answers; it asks several times a second. Then we end, as any command that cannot read its trace.
  bool has_failed() {
    constexpr std::chrono::seconds kPatience{3};
    if (trace_.state().stage != serve::OpeningState::Stage::kFailed) return false;
    if (!failed_) failed_ = Clock::now();
    const bool somebody_looks = has_browser_ || desk_.last_visit();
    return !somebody_looks || desk_.has_told_failure() || Clock::now() - *failed_ > kPatience;
  }

  const ViewOptions& options_;
  const bool has_browser_;
  const serve::Desk& desk_;
  const serve::OpenedTrace& trace_;
  Terminal terminal_{options_.until_eof};
  const Clock::time_point start_ = Clock::now();
  std::optional<Clock::time_point> failed_;
};

Result<ExitCode> serve_page(const ViewOptions& options, const GlobalOptions& globals) {
  if (auto checked = check(options); !checked) return std::unexpected(checked.error());
  auto listening = serve::Server::listen(static_cast<std::uint16_t>(options.port));
  if (!listening) return std::unexpected(listening.error());
  const std::uint16_t port = listening->port();
  auto gate = new_gate(port);
  if (!gate) return std::unexpected(gate.error());
  if (auto printed = print(greeting(*gate, port)); !printed) return printed;

  serve::Opening opening = options.opening;
  opening.source = shown_while_read(std::move(opening.source), globals);
  serve::OpenedTrace trace(std::move(opening));
  serve::Desk desk(*gate, trace, {.version = TELLTALE_VERSION, .has_source = !options.opening.source_folders.empty()});
  const bool has_browser = !options.no_browser && has_display();
  if (has_browser) open_browser(gate->launch_address());
  Watch watch(options, has_browser, desk, trace);
  serve::Server server = *std::move(listening);  // last: it ends before those whom its threads ask
  server.run([&desk](const serve::RequestHead& head) { return desk.receive(head); },
             [&watch] { return watch.goes_on(); });

  if (trace.state().stage == serve::OpeningState::Stage::kFailed) return std::unexpected(*trace.state().error);
  // An analysis may go on for minutes and cannot be called off, but nobody wants it any more. All that a line of
  // progress leaves on the screen is taken away.
  if (isatty(STDERR_FILENO) != 0) static_cast<void>(print("\r\x1b[K", STDERR_FILENO));
  std::_Exit(kDone);
}

Work declare(CLI::App& app, const GlobalOptions& globals) {
  auto options = std::make_shared<ViewOptions>();
  declare_trace(app, options->opening.source.path)->required();
  app.add_option("--port", options->port, "Listen on this port of 127.0.0.1; 0 is any that is free (the default)")
      ->type_name("N");
  app.add_flag("--no-browser", options->no_browser,
               "Open no browser. None is opened where there is no display, or over ssh");
  app.add_flag("--follow", options->opening.is_followed,
               "Read the file again while it grows, until its recording has ended");
  app.add_option("--source", options->opening.source_folders,
                 "Show the source files in this folder and below it, with the time beside each line; may be given more "
                 "than once")
      ->type_name("DIR")
      ->allow_extra_args(false);
  app.add_option("--idle", options->idle_minutes, "End when nobody has looked at the page for this many minutes")
      ->type_name("MINUTES");
  app.add_flag("--until-eof", options->until_eof,
               "End when standard input, a pipe, is closed: with the program that started it, or with ssh");
  app.footer(
      "The first line on standard output is the address of the page. Whoever has it can look at the trace, but only\n"
      "from this machine.\n\n"
      "  telltale view train.json.gz\n"
      "  telltale view run.tell --follow --source .\n"
      "  telltale view train.json.gz --no-browser --port 8123     at the other end of: ssh -L 8123:127.0.0.1:8123 "
      "host");
  return [options, &globals] { return serve_page(*options, globals); };
}

}  // namespace

const Command commands::view = {"view", "Look into a trace in the browser of this machine", declare};

}  // namespace telltale::cli
