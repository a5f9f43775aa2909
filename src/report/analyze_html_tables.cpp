#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "advise/device_word.h"
#include "base/amounts.h"
#include "report/analyze_html_parts.h"
#include "report/analyze_words.h"
#include "report/html_text.h"
#include "report/palette.h"
#include "report/shown_names.h"

namespace telltale::html {
namespace {

constexpr std::size_t kMostModules = 500;
constexpr std::size_t kSiblingsAtOnce = 16;
constexpr int kDeepest = 24;       // deeper ones are left out: nobody unfolds so far
constexpr int kUnfoldedDepth = 2;  // what is above stands open
constexpr std::size_t kLongestModule = 80;

struct ModuleTree {
  const std::vector<ModuleTime>& modules;
  std::vector<std::vector<std::size_t>> children;
  std::vector<std::size_t> roots;
  bool has_device = false;
  Nanoseconds whole = 0;  // of the longest root, which fills the bar
  Nanoseconds step = 0;
  std::size_t left = kMostModules;
};

Nanoseconds forward_of(const ModuleTree& tree, const ModuleTime& module) {
  return tree.has_device ? module.forward_device_ns : module.forward_cpu_ns;
}
Nanoseconds backward_of(const ModuleTree& tree, const ModuleTime& module) {
  return tree.has_device ? module.backward_device_ns : module.backward_cpu_ns;
}

std::string forward_class(const ModuleTree& tree) {
  return tree.has_device ? style_class(WorkClass::kMatmul) : style_class(HostDoing{HostWork::kOperators});
}
std::string backward_class(const ModuleTree& tree) {
  return tree.has_device ? style_class(WorkClass::kElementwise) : style_class(HostDoing{HostWork::kPython});
}

ModuleTree tree_of(const Diagnosis& diagnosis) {
  ModuleTree tree{diagnosis.modules, std::vector<std::vector<std::size_t>>(diagnosis.modules.size()), {}};
  tree.has_device = std::ranges::any_of(diagnosis.modules, [](const ModuleTime& each) { return each.device_ns() > 0; });
  tree.step = diagnosis.recorded_ns;
  for (std::size_t i = 0; i < diagnosis.modules.size(); ++i) {
    const ModuleTime& module = diagnosis.modules[i];
    if (module.parent == ModuleTime::kNoParent) {
      tree.roots.push_back(i);
      tree.whole = std::max(tree.whole, forward_of(tree, module) + backward_of(tree, module));
    } else {
      tree.children[static_cast<std::size_t>(module.parent)].push_back(i);
    }
  }
  return tree;
}

std::string row_of(const ModuleTree& tree, const ModuleTime& module, int depth) {
  const Nanoseconds forward = forward_of(tree, module), backward = backward_of(tree, module);
  return fmt::format(
      "<span class=\"module\" style=\"--depth:{}\"><span class=\"label\" title=\"{}, {}\">{}</span><span "
      "class=\"both\">{}{}</span>"
      "<span class=\"n\">{}</span><span class=\"n\">{}</span></span>",
      depth, html_cut(module.path, 200), counted(static_cast<double>(module.calls), "call"),
      html_cut(module.name, kLongestModule), meter(percent_of(forward, tree.whole), forward_class(tree)),
      meter(percent_of(backward, tree.whole), backward_class(tree)), format_time(forward + backward),
      format_percent(percent_of(forward + backward, tree.step)));
}

std::string list_of(ModuleTree& tree, std::span<const std::size_t> modules, int depth);

std::string item_of(ModuleTree& tree, std::size_t index, int depth) {
  const std::string row = row_of(tree, tree.modules[index], depth);
  if (tree.children[index].empty() || depth == kDeepest) return "<li class=\"leaf\">" + row + "</li>\n";
  return fmt::format("<li><details{}><summary>{}</summary>\n<ul>\n{}</ul></details></li>\n",
                     depth < kUnfoldedDepth ? " open" : "", row, list_of(tree, tree.children[index], depth + 1));
}

std::string not_shown(std::size_t count) {
  return fmt::format("{} more {} not shown", count, count == 1 ? "is" : "are");
}

std::string label_row(std::string_view label, int depth) {
  return fmt::format("<span class=\"module\" style=\"--depth:{}\"><span class=\"label\">{}</span></span>", depth,
                     label);
}

// The longest of them; the others unfold, as far as the page has room for them.
std::string list_of(ModuleTree& tree, std::span<const std::size_t> modules, int depth) {
  std::string items, more;
  std::size_t shown = 0;
  for (; shown < modules.size() && tree.left > 0; ++shown) {
    --tree.left;
    (shown < kSiblingsAtOnce ? items : more) += item_of(tree, modules[shown], depth);
  }
  const std::string rest =
      shown == modules.size() ? std::string()
                              : "<li class=\"leaf\">" + label_row(not_shown(modules.size() - shown), depth) + "</li>\n";
  if (more.empty()) return items + rest;
  return items + fmt::format("<li><details><summary>{}</summary>\n<ul>\n{}{}</ul></details></li>\n",
                             label_row(fmt::format("{} more", modules.size() - kSiblingsAtOnce), depth), more, rest);
}

constexpr std::size_t kMostKernels = 100;
constexpr std::size_t kKernelsAtOnce = 15;  // the rest unfolds
constexpr std::size_t kMostRows = 12;
constexpr std::size_t kLongestName = 110, kLongestTitle = 400;

std::string percent_or_blank(const std::optional<double>& percent) { return percent ? format_percent(*percent) : ""; }

// "3.5" a step; whole numbers without decimals.
std::string calls_text(double calls) {
  return calls < 9.95 && calls != static_cast<double>(static_cast<std::int64_t>(calls))
             ? fmt::format("{:.1f}", calls)
             : format_count(static_cast<std::int64_t>(calls + 0.5));
}

std::string bandwidth_text(double bytes_per_second) {
  return bytes_per_second > 0 ? format_bytes(static_cast<std::int64_t>(bytes_per_second)) + "/s" : std::string();
}

std::string precision_of(const KernelRow& row) {
  std::string text = row.traits.precision == Precision::kUnknown ? "" : std::string(name_of(row.traits.precision));
  if (row.traits.uses_tensor_cores) text += " <abbr title=\"on tensor cores\">TC</abbr>";
  return text;
}

// One for each row that is shown. A name may have several rows, one a class; short forms tell different names apart.
std::vector<std::string> names_of(const std::vector<KernelRow>& rows) {
  std::vector<NamedRow> distinct;
  std::vector<std::size_t> place;
  for (std::size_t i = 0; i < std::min(rows.size(), kMostKernels); ++i) {
    const auto same = std::ranges::find(distinct, rows[i].name, &NamedRow::name);
    place.push_back(static_cast<std::size_t>(same - distinct.begin()));
    if (same == distinct.end()) distinct.push_back({Kind::kKernel, rows[i].name});
  }
  const std::vector<std::string> shortened = shortened_names(distinct);
  std::vector<std::string> names;
  for (const std::size_t each : place) names.push_back(shortened[each]);
  return names;
}

std::string kernel_row(const KernelRow& row, const std::string& name, Nanoseconds longest) {
  const std::string style = style_class(row.work);
  return fmt::format("<tr><th scope=\"row\" title=\"{}\">{}{}</th><td>{}</td><td>{}</td>",
                     html_cut(row.name, kLongestTitle), key_mark(style), html_cut(name, kLongestName),
                     name_of(row.work), precision_of(row)) +
         number_cell(format_count(row.calls)) + number_cell(format_time(static_cast<Nanoseconds>(row.mean_ns))) +
         number_cell(percent_or_blank(row.occupancy_percent)) + number_cell(percent_or_blank(row.roofline_percent)) +
         fmt::format("<td class=\"room\">{}</td>", meter(percent_of(row.device_ns, longest), style)) +
         number_cell(format_time(row.device_ns)) + "</tr>\n";
}

std::string kernel_table(const std::string& rows) {
  return table_of({{"kernel", false},
                   {"class", false},
                   {"precision", false},
                   {"calls"},
                   {"mean"},
                   {"occupancy"},
                   {"of roofline"},
                   {"", false},
                   {"per step"}},
                  rows, "kernels");
}

template <typename Row>
std::string rest_of(const std::vector<Row>& rows) {
  return rows.size() <= kMostRows ? std::string()
                                  : fmt::format("<p class=\"caption\">and {} more</p>\n", rows.size() - kMostRows);
}

}  // namespace

std::string modules_section(const Diagnosis& diagnosis) {
  if (diagnosis.modules.empty()) return {};
  ModuleTree tree = tree_of(diagnosis);
  const std::string caption = fmt::format(
      "{} time per step, including what is called inside: {}forward, {}backward. The share is of the recorded step.",
      tree.has_device ? with_device_word("GPU", diagnosis.device_word) : "Host", key_mark(forward_class(tree)),
      key_mark(backward_class(tree)));
  const std::string list = list_of(tree, tree.roots, 0);
  return section("modules", "Modules", caption, "<ul class=\"tree\">\n" + list + "</ul>\n");
}

std::string kernels_section(const Diagnosis& diagnosis) {
  const std::vector<KernelRow>& rows = diagnosis.kernels.rows;
  if (rows.empty()) return {};
  const std::vector<std::string> names = names_of(rows);
  std::string first, more;
  for (std::size_t i = 0; i < names.size(); ++i) {
    (i < kKernelsAtOnce ? first : more) += kernel_row(rows[i], names[i], rows.front().device_ns);
  }
  std::string body = kernel_table(first);
  if (!more.empty()) {
    body += fmt::format("<details><summary>{} more</summary>\n{}</details>\n", names.size() - kKernelsAtOnce,
                        kernel_table(more));
  }
  const std::string caption = rows.size() <= names.size()
                                  ? "Device work by name, the longest first."
                                  : fmt::format("Device work by name: the {} longest of {}.", names.size(),
                                                format_count(static_cast<std::int64_t>(rows.size())));
  return section("kernels", "Kernels", caption, body);
}

std::string syncs_section(const Diagnosis& diagnosis) {
  const std::vector<SyncRow>& rows = diagnosis.sync_rows;
  if (rows.empty()) return {};
  std::string body;
  for (std::size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) {
    const SyncRow& row = rows[i];
    body += fmt::format("<tr><th scope=\"row\">{}</th>", html_cut(row.name, kLongestName)) +
            number_cell(calls_text(row.calls)) + number_cell(format_time(row.waited_ns)) +
            number_cell(format_time(row.idle_ns)) + "</tr>\n";
  }
  return section("syncs", "Where the host waits for the " + diagnosis.device_word,
                 "Per step. Only the idle time after a wait costs anything.",
                 table_of({{"called by", false}, {"calls"}, {"host waits"}, {diagnosis.device_word + " then idles"}},
                          body, "plain") +
                     rest_of(rows));
}

std::string waits_section(const Diagnosis& diagnosis) {
  const std::vector<HostWait>& rows = diagnosis.waits;
  if (rows.empty()) return {};
  std::string body;
  for (std::size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) {
    const HostWait& row = rows[i];
    const std::string line = row.source ? source_text(*row.source) : std::string();
    body += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td>", html_cut(phrase_of(row.what), kLongestName),
                        html_cut(line, kLongestName)) +
            number_cell(format_time(row.ns)) + number_cell(format_percent(row.percent)) + "</tr>\n";
  }
  return section(
      "waits", "What the step waits for", "Per step, on the thread that works for it.",
      table_of({{"waits for", false}, {"at", false}, {"takes"}, {"of the step"}}, body, "plain") + rest_of(rows));
}

std::string copies_section(const Diagnosis& diagnosis) {
  if (diagnosis.copies.rows.empty()) return {};
  std::string body;
  for (const CopyRow& row : diagnosis.copies.rows) {
    std::string direction(name_of(row.direction));
    std::ranges::replace(direction, '_', ' ');
    body += fmt::format("<tr><th scope=\"row\">{}{}</th>", direction, row.is_pageable ? ", pageable" : "") +
            number_cell(calls_text(row.calls)) + number_cell(format_bytes(static_cast<std::int64_t>(row.bytes))) +
            number_cell(bandwidth_text(row.bytes_per_second)) + number_cell(format_time(row.duration_ns)) +
            number_cell(format_time(row.exposed_ns)) + number_cell(format_time(row.host_blocked_ns)) + "</tr>\n";
  }
  return section(
      "copies", "Copies", "Per step. Exposed is what no other work of the " + diagnosis.device_word + " hides.",
      table_of({{"direction", false}, {"calls"}, {"size"}, {"speed"}, {"takes"}, {"exposed"}, {"host blocked"}}, body,
               "plain"));
}

std::string communication_section(const Diagnosis& diagnosis) {
  const Communication& communication = diagnosis.communication;
  if (communication.rows.empty()) return {};
  std::string body;
  for (std::size_t i = 0; i < std::min(communication.rows.size(), kMostRows); ++i) {
    const CollectiveRow& row = communication.rows[i];
    body += fmt::format("<tr><th scope=\"row\">{}</th>", html_cut(row.name, kLongestName)) +
            number_cell(calls_text(row.calls)) +
            number_cell(row.bytes ? format_bytes(static_cast<std::int64_t>(*row.bytes)) : "") +
            number_cell(format_time(row.device_ns)) + number_cell(format_time(row.exposed_ns)) + "</tr>\n";
  }
  const std::string caption =
      fmt::format("{} per step, of which computing hides {}; {} is exposed.", format_time(communication.total_ns),
                  format_percent(communication.overlap_percent().value_or(0)), format_time(communication.exposed_ns));
  return section("communication", "Communication", caption,
                 table_of({{"collective", false}, {"calls"}, {"sent"}, {"takes"}, {"exposed"}}, body, "plain") +
                     rest_of(communication.rows));
}

}  // namespace telltale::html
