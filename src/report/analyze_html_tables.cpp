#include <fmt/format.h>

#include <algorithm>

#include "analysis/sync_rows.h"
#include "base/amounts.h"
#include "report/analyze_html_parts.h"
#include "report/analyze_words.h"
#include "report/html_text.h"
#include "report/shown_names.h"

namespace telltale::html {
namespace {

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
  const std::string style = fmt::format("w{}", static_cast<int>(row.work));
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
                   {"a step"}},
                  rows, "kernels");
}

template <typename Row>
std::string rest_of(const std::vector<Row>& rows) {
  return rows.size() <= kMostRows ? std::string()
                                  : fmt::format("<p class=\"caption\">and {} more</p>\n", rows.size() - kMostRows);
}

}  // namespace

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

std::string syncs_section(const Diagnosis& diagnosis, const Trace& trace) {
  const std::vector<SyncRow> rows = sync_rows(trace, diagnosis.timing, diagnosis.syncs);
  if (rows.empty()) return {};
  std::string body;
  for (std::size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) {
    const SyncRow& row = rows[i];
    body += fmt::format("<tr><th scope=\"row\">{}</th>", html_cut(row.name, kLongestName)) +
            number_cell(calls_text(row.calls)) + number_cell(format_time(row.waited_ns)) +
            number_cell(format_time(row.idle_ns)) + "</tr>\n";
  }
  return section(
      "syncs", "Waits of the host for the GPU", "A step. Only the idle time after a wait costs anything.",
      table_of({{"called by", false}, {"calls"}, {"host waits"}, {"GPU then idles"}}, body, "plain") + rest_of(rows));
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
      "copies", "Copies", "A step. Exposed is what no other work of the GPU hides.",
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
      fmt::format("{} a step, of which computing hides {}; {} are exposed.", format_time(communication.total_ns),
                  format_percent(communication.overlap_percent()), format_time(communication.exposed_ns));
  return section("communication", "Communication", caption,
                 table_of({{"collective", false}, {"calls"}, {"sent"}, {"takes"}, {"exposed"}}, body, "plain") +
                     rest_of(communication.rows));
}

}  // namespace telltale::html
