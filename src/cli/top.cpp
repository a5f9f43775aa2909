// telltale top TRACE: what took the time, as torch.profiler's key_averages() has it.
#include <memory>

#include "analysis/key_averages.h"
#include "analysis/sort_key.h"
#include "cli/command.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/step_choice.h"
#include "report/csv.h"
#include "report/json.h"
#include "report/top_table.h"
#include "words/chosen_steps.h"
#include "words/row_words.h"

namespace telltale::cli {
namespace {

constexpr std::size_t kRowsOnScreen = 20;

struct TopOptions {
  std::string path;
  KeyAveragesOptions averages;
  std::optional<SortKey> sort;
  std::optional<std::size_t> limit;  // 0: all rows
  bool wants_json = false, wants_csv = false, has_full_names = false;
};

Result<ExitCode> show_top(const TopOptions& options, const GlobalOptions& globals) {
  const Result<Trace> trace = load(options.path, globals);
  if (!trace) return std::unexpected(trace.error());
  if (const std::string reason = why_no_step(*trace, options.averages.steps, "--steps"); !reason.empty()) {
    return failure(reason, options.path);
  }

  KeyAverages averages = key_averages(*trace, options.averages);
  const SortKey sort = options.sort.value_or(default_sort_key(averages));
  sort_rows(averages.rows, sort);
  const bool is_for_people = !options.wants_json && !options.wants_csv;
  const std::size_t limit = options.limit.value_or(is_for_people ? kRowsOnScreen : 0);
  const std::size_t all = averages.rows.size();
  if (limit > 0 && limit < all) averages.rows.resize(limit);

  if (options.wants_json) return print(to_json(averages));
  if (options.wants_csv) return print(to_csv(averages));
  return print(top_table(averages, {sort, options.has_full_names, all - averages.rows.size()}, output_style()));
}

void declare_choice(CLI::App& app, TopOptions& options) {
  app.add_option_function<std::string>(
         "--by", [&options](const std::string& word) { options.averages.kinds = kinds_by_word().at(word); },
         "Rows: operator, kernel (all device work), module, annotation, python or all; without it operators, "
         "annotations and runtime calls")
      ->check(CLI::IsMember(kinds_by_word()))
      ->type_name("KIND");
  app.add_option_function<std::string>(
         "--group", [&options](const std::string& word) { options.averages.grouping = groupings_by_word().at(word); },
         "What shares a row: name, shape (name and input shapes) or stack (name and Python frames)")
      ->check(CLI::IsMember(groupings_by_word()))
      ->type_name("HOW");
  app.add_option("--stack-depth", options.averages.stack_depth, "Innermost frames that tell stacks apart (5)")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  declare_steps(app, options.averages.steps);
}

void declare_output(CLI::App& app, TopOptions& options) {
  std::string keys;
  for (const std::string_view name : sort_key_names()) keys.append(keys.empty() ? "" : ", ").append(name);
  app.add_option_function<std::string>(
         "--sort",
         [&options, keys](const std::string& word) {
           options.sort = sort_key_named(word);
           if (!options.sort) throw CLI::ValidationError("--sort", "'" + word + "' is no sort key; there are " + keys);
         },
         "Largest first by " + keys + "; torch.profiler's own names work too")
      ->type_name("KEY");
  app.add_option("--limit", options.limit, "At most this many rows, 0 for all (20; all with --json and --csv)")
      ->type_name("N");
  app.add_flag("--full-names", options.has_full_names, "Do not shorten names");
  CLI::Option* json = app.add_flag("--json", options.wants_json, "Print telltale.top/1");
  app.add_flag("--csv", options.wants_csv, "Print comma-separated values")->excludes(json);
}

Work declare(CLI::App& app, const GlobalOptions& globals) {
  auto options = std::make_shared<TopOptions>();
  app.add_option("TRACE", options->path, "A trace file, or - for standard input")->required();
  declare_choice(app, *options);
  declare_output(app, *options);
  app.footer(
      "  telltale top train.json.gz --sort self-cpu --limit 10\n"
      "  telltale top train.json.gz --by kernel --steps 3..7\n"
      "  telltale top train.json.gz --group shape --json");
  return [options, &globals] { return show_top(*options, globals); };
}

}  // namespace

const Command kTopCommand = {
    "top", "Rank operators, kernels, modules or Python calls by time, memory or calls, as key_averages() does",
    declare};

}  // namespace telltale::cli
